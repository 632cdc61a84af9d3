/* A driver library that says what macros say. Compiled by the tests, once for each case:
 *
 * INIT, COUNT_ERROR   what cuInit and cuDeviceGetCount return
 * COUNT, VERSION      devices, and the number of cuDriverGetVersion
 * CC0 CC1 NAME0 NAME1 capability times ten and name of each device
 * SHIFT               added to the first byte of every identifier (a MIG instance)
 * INTEGRATED          the attribute of that name
 * FASTEST_FIRST       the devices are numbered from the last to the first, unless CUDA_DEVICE_ORDER=PCI_BUS_ID
 * BARE                no identifiers and no PCI addresses (Jetson)
 * ATTRIBUTE_ERROR     what cuDeviceGetAttribute returns for the last device
 * HANG, CRASH, PRINT  what cuInit does
 * PID_FILE            where cuInit writes the number of its process
 * FORK_FILE           where it writes that of a process that it forks, which keeps all pipes open and waits for ever
 * FLOOD               the stream that cuInit prints on for ever: 1 or 2
 * OLD                 without the functions of newer drivers
 * EMPTY               without cuDeviceGetAttribute
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT_ERROR
#define COUNT_ERROR 0
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef VERSION
#define VERSION 12040
#endif
#ifndef CC0
#define CC0 89
#endif
#ifndef CC1
#define CC1 90
#endif
#ifndef NAME0
#define NAME0 "NVIDIA GeForce RTX 4090"
#endif
#ifndef NAME1
#define NAME1 "NVIDIA H100 80GB HBM3"
#endif
#ifndef SHIFT
#define SHIFT 0
#endif
#ifndef INTEGRATED
#define INTEGRATED 0
#endif

static int initialised;

/* The devices behind CUDA_VISIBLE_DEVICES, by their place on the bus. */
static int shown[COUNT + 1];
static int shown_count;

static void uuid_of(int place, unsigned char *bytes)
{
    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)((place + 1) * 16 + i);
    bytes[0] = (unsigned char)(bytes[0] + SHIFT);
}

static int place_of(int number)
{
#ifdef FASTEST_FIRST
    const char *order = getenv("CUDA_DEVICE_ORDER");
    if (!order || strcmp(order, "PCI_BUS_ID") != 0)
        return COUNT - 1 - number;
#endif
    return number;
}

static int by_entry(const char *entry)
{
    char *end;
    if (strncmp(entry, "GPU-", 4) == 0) {
        for (int place = 0; place < COUNT; place++) {
            unsigned char bytes[16];
            char text[16];
            uuid_of(place, bytes);
            snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
            if (strncmp(entry, text, strlen(entry) < 12 ? strlen(entry) : 12) == 0)
                return place;
        }
        return -1;
    }
    long number = strtol(entry, &end, 10);
    if (end == entry || *end || number < 0 || number >= COUNT)
        return -1;
    return place_of((int)number);
}

static void choose(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    shown_count = 0;
    if (!list) {
        for (int number = 0; number < COUNT; number++)
            shown[shown_count++] = place_of(number);
        return;
    }
    char copy[256];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *entry = strtok(copy, ","); entry; entry = strtok(NULL, ",")) {
        int place = by_entry(entry);
        if (place < 0 || shown_count >= COUNT)
            return;
        shown[shown_count++] = place;
    }
}

static void write_number(const char *path, int number)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.new", path);
    FILE *file = fopen(other, "w");
    if (file) {
        fprintf(file, "%d\n", number);
        fclose(file);
        rename(other, path);
    }
}

int cuInit(unsigned flags)
{
#ifdef FORK_FILE
    int forked = fork();
    while (forked == 0)
        pause();
    write_number(FORK_FILE, forked);
#endif
#ifdef PID_FILE
    write_number(PID_FILE, (int)getpid());
#endif
#ifdef FLOOD
    char line[4096];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (;;)
        write(FLOOD, line, sizeof line);
#endif
#ifdef PRINT
    printf("the driver prints on standard output, without an end of line");
    fflush(stdout);
    fprintf(stderr, "the driver prints on standard error\n");
#endif
#ifdef HANG
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
#endif
#ifdef CRASH
    *(volatile int *)0 = 1;
#endif
    if (flags != 0)
        return 1;
    choose();
    if (INIT != 0)
        return INIT;
    if (shown_count == 0 && COUNT > 0)
        return 100;
    initialised = 1;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    if (!initialised)
        return 3;
    *count = shown_count;
    return COUNT_ERROR;
}

int cuDeviceGet(int *device, int ordinal)
{
    if (ordinal < 0 || ordinal >= shown_count)
        return 101;
    *device = shown[ordinal];
    return 0;
}

#ifndef EMPTY
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int capability = device == 0 ? CC0 : CC1;
#ifdef ATTRIBUTE_ERROR
    if (device == COUNT - 1)
        return ATTRIBUTE_ERROR;
#endif
    switch (attribute) {
    case 18:
        *value = INTEGRATED;
        return 0;
    case 75:
        *value = capability / 10;
        return 0;
    case 76:
        *value = capability % 10;
        return 0;
    }
    return 1;
}
#endif

int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "%s", device == 0 ? NAME0 : NAME1);
    return 0;
}

#ifndef BARE
int cuDeviceGetPCIBusId(char *text, int length, int device)
{
    snprintf(text, (size_t)length, "0000:%02x:00.0", 0x41 + device);
    return 0;
}

#ifndef OLD
int cuDeviceGetUuid_v2(unsigned char *bytes, int device)
{
    uuid_of(device, bytes);
    return 0;
}
#endif
#endif

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)24 << 30;
    (void)device;
    return 0;
}
