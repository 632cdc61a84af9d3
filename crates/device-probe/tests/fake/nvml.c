/* A management library that says what macros say. Its devices are those of cuda.c.
 *
 * INIT                what nvmlInit_v2 returns
 * COUNT, VERSION      devices, and the CUDA version
 * DRIVER              the version of the driver
 * CC0 CC1 NAME0 NAME1 capability times ten and name of each device
 * PCI0 PCI1           PCI device ids
 * MIG                 the first device is split, into so many instances
 * JETSON              most functions are not supported
 * LOST                the last device has no handle: what that call returns
 * HANG                nvmlInit_v2 does not return
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef VERSION
#define VERSION 12040
#endif
#ifndef DRIVER
#define DRIVER "550.54.14"
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
#ifndef PCI0
#define PCI0 0x2684
#endif
#ifndef PCI1
#define PCI1 0x2330
#endif

#define NOT_SUPPORTED 3

typedef struct {
    char legacy[16];
    unsigned domain, bus, device, device_and_vendor, subsystem;
    char id[32];
} pci_info;

typedef struct {
    unsigned long long total, free, used;
} memory;

/* A handle is a place counted from 1; an instance has 100 added. */
static int place_of(void *device)
{
    return (int)(long)device - 1;
}

int nvmlInit_v2(void)
{
#ifdef HANG
    for (;;)
        pause();
#endif
    return INIT;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
#ifdef JETSON
    return NOT_SUPPORTED;
#endif
    snprintf(text, length, "%s", DRIVER);
    return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = VERSION;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = COUNT;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
#ifdef LOST
    if (index == COUNT - 1)
        return LOST;
#endif
    *device = (void *)(long)(index + 1);
    return 0;
}

int nvmlDeviceGetName(void *device, char *text, unsigned length)
{
    int place = place_of(device);
    if (place >= 100)
        snprintf(text, length, "%s MIG 1g.10gb", NAME0);
    else
        snprintf(text, length, "%s", place == 0 ? NAME0 : NAME1);
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned length)
{
    int place = place_of(device);
    unsigned char b[16];
#ifdef JETSON
    return NOT_SUPPORTED;
#endif
    for (int i = 0; i < 16; i++)
        b[i] = (unsigned char)((place % 100 + 1) * 16 + i);
    if (place >= 100) {
        b[0] = (unsigned char)(0x90 + place - 100);
        for (int i = 1; i < 16; i++)
            b[i] = (unsigned char)(16 + i);
    }
    snprintf(text, length, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             place >= 100 ? "MIG" : "GPU", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
             b[12], b[13], b[14], b[15]);
    return 0;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    int capability = place_of(device) == 0 ? CC0 : CC1;
#ifdef JETSON
    return NOT_SUPPORTED;
#endif
    *major = capability / 10;
    *minor = capability % 10;
    return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, pci_info *info)
{
    int place = place_of(device);
#ifdef JETSON
    return NOT_SUPPORTED;
#endif
    memset(info, 0, sizeof *info);
    info->bus = 0x41 + (unsigned)place;
    info->device_and_vendor = (unsigned)(place == 0 ? PCI0 : PCI1) << 16 | 0x10de;
    snprintf(info->id, sizeof info->id, "00000000:%02X:00.0", info->bus);
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, memory *bytes)
{
#ifdef JETSON
    return NOT_SUPPORTED;
#endif
    bytes->total = 80ull << 30;
    (void)device;
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
#ifdef MIG
    if (place_of(device) == 0) {
        *current = *pending = 1;
        return 0;
    }
#endif
    (void)device;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
    *count = 7;
    (void)device;
    return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **instance)
{
#ifdef MIG
    if (place_of(device) == 0 && index < MIG) {
        *instance = (void *)(long)(index + 101);
        return 0;
    }
#endif
    (void)device;
    return 6;
}
