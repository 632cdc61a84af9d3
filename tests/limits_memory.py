#!/usr/bin/env python3
"""Every limit of docs/LIMITS.md reached at its default value, and the memory that it takes: `tests/limits_memory.py [FIELD...]`.

For each field of `Limits` files are made that reach it (some also in the way that costs most), the release build reads them
with 16 threads, and diagnostic, exit code and peak of RssAnon are compared with what LIMITS.md says. Prints a Markdown table;
ends with 1 where something differs. Needs Linux, Python 3, and about 1 GB of room for temporary files.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("FATSCAN") or Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/fatscan")
MB = 1_000_000
MIB = 1 << 20
LIST = 256 * MB
# 256 MiB to unpack in, and what is listed: 1,000,000 kernels and their names
DEEP = 512 * MB
PATIENCE = 120

# --- files

ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
PTX, SASS, CONCAT = 1, 2, 0x100
ZLIB, ZSTD = 0x1000, 0x8000


def entry(kind=PTX, payload=bytes(8), flags=0, unpacked=0, header=b"", texts=(0, 0, 0), padded=None, header_size=None):
    """An entry of a fatbin; `texts`: offset of the options, offset and length of the identifier."""
    size = len(payload) + 7 & ~7
    compressed = len(payload) if unpacked else 0
    options, name, length = texts
    head = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, header_size or 64 + len(header), size if padded is None else padded, compressed,
        options, 5, 8, 90, name, length, 0x11 | flags, 0, unpacked)
    return head + header + payload + bytes(size - len(payload))


def fatbin(*entries, size=None):
    chain = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(chain) if size is None else size) + chain


def ptx(names):
    return b".version 8.5\n.target sm_90\n" + b"".join(b".entry %s(){}\n" % name for name in names)


def packed(text):
    """A PTX entry, compressed."""
    return entry(payload=zlib.compress(text, 1), flags=ZLIB, unpacked=len(text))


def stored_zstd(size):
    """A zstd frame of zeros, in blocks that repeat one byte."""
    blocks, left = [], size
    while left:
        part = min(left, 128 << 10)
        left -= part
        blocks.append((part << 3 | 1 << 1 | (left == 0)).to_bytes(3, "little") + b"\0")
    return bytes.fromhex("28b52ffd") + b"\xe0" + struct.pack("<Q", size) + b"".join(blocks)


def deflated(data):
    made = zlib.compressobj(1, zlib.DEFLATED, -15)
    return made.compress(data) + made.flush()


def zeros_deflated(head, zeros):
    """`head` and zeros, deflated; with its checksum."""
    made, crc, block = zlib.compressobj(9, zlib.DEFLATED, -15), zlib.crc32(head), bytes(MIB)
    parts = [made.compress(head)]
    for _ in range(zeros // MIB):
        parts.append(made.compress(block))
        crc = zlib.crc32(block, crc)
    return b"".join([*parts, made.flush()]), crc


class Zip:
    """A zip archive, written member by member; with zip64 records at its end."""

    def __init__(self, path):
        self.out, self.rows, self.count = open(path, "wb"), [], 0

    def member(self, name, data, method=0, size=None, crc=None, flags=0):
        self.row(name, self.out.tell(), len(data), method, len(data) if size is None else size, crc, flags, data)

    def row(self, name, at, packed_size, method, size, crc, flags, data):
        crc = (zlib.crc32(data) if method == 0 else 0) if crc is None else crc
        extra = struct.pack("<HHQ", 1, 8, size) if size >= 0xFFFFFFFF else b""
        fields = struct.pack("<HHHHIIIHH", flags, method, 0, 0x21, crc, packed_size, min(size, 0xFFFFFFFF), len(name), len(extra))
        local = b"PK\3\4" + struct.pack("<H", 45) + fields + name + extra
        self.rows.append(b"PK\1\2" + struct.pack("<HH", 45, 45) + fields + struct.pack("<HHHII", 0, 0, 0, 0, at) + name + extra)
        self.count += 1
        if data is not None:
            self.out.write(local + data)

    def close(self):
        start = self.out.tell()
        self.out.writelines(self.rows)
        self.end(start, self.out.tell())

    def end(self, start, end):
        self.out.write(b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, self.count, self.count, end - start, start))
        self.out.write(b"PK\6\7" + struct.pack("<IQI", 0, end, 1))
        self.out.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
        self.out.close()


def zipped(path, *members):
    """An archive of (name, bytes), deflated."""
    made = Zip(path)
    for name, data in members:
        made.member(name, deflated(data), 8, len(data), zlib.crc32(data))
    made.close()


def member_of_archive(name, data, length=None):
    """A member of a static library, its name as the header spells it."""
    head = b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 0o644, len(data) if length is None else length)
    return head + data + b"\n" * (len(data) & 1)


# --- one input for each field; more where another way costs more

CASES = []


def case(field, code, command="list", name="x.so", level=1, bound=None):
    def add(make):
        CASES.append((field, code, command.split(), name, level, bound or (LIST if command == "list" else DEEP), make))
        return make
    return add


@case("depth", "FS0211", name="x.zip")
def _(path):
    inner = ELF + fatbin(entry())
    for level in range(5):
        made = Zip(path)
        made.member(b"x.so" if level == 0 else b"x.zip", inner)
        made.close()
        inner = path.read_bytes()


def members(path, count, name_bytes=4, method=0, flags=0, data=b"", ending=b""):
    made = Zip(path)
    for number in range(count):
        name = b"%0*d" % (name_bytes, number) + ending
        made.member(name, data, method, flags=flags)
    made.close()


@case("entries", "FS0501", name="x.zip")
def _(path):
    members(path, 250_001)


@case("entries", "FS0501", "list", "long-names.zip")
def _(path):
    members(path, 250_001, 82)


@case("entries", "FS0501", "list", "encrypted.zip")
def _(path):
    members(path, 250_001, 7, flags=1, ending=b".so")


@case("entries", "FS0501", "list", "libraries.zip")
def _(path):
    members(path, 250_001, 7, data=ELF, ending=b".so")


@case("directory_bytes", "FS0510", name="x.zip", level=1)
def _(path):
    made = Zip(path)
    made.member(b"x.so", ELF + fatbin(entry()))
    start = made.out.tell()
    # a hole: what is not looked at need not be there
    made.out.seek(start + 128 * MIB + 1)
    made.end(start, made.out.tell())


@case("member_bytes", "FS0502", name="x.zip")
def _(path):
    made = Zip(path)
    made.member(b"x.so", deflated(ELF), 8, 65 << 30)
    made.close()


@case("ratio", "FS0211", name="x.zip")
def _(path):
    # zeros deflated twice: two gigabytes in a member of some kilobytes
    inner = path.with_name("inner.zip")
    data, crc = zeros_deflated(ELF, 1 << 30)
    made = Zip(inner)
    for name in (b"a.so", b"b.so"):
        made.member(name, data, 8, len(ELF) + (1 << 30), crc)
    made.close()
    zipped(path, (b"inner.zip", inner.read_bytes()))
    inner.unlink()


@case("window_bytes", "FS0211", name="x.zip")
def _(path):
    # a frame of zstd that asks for a window of a gigabyte, and one raw block in it
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([20 << 3]) + (len(ELF) << 3 | 1).to_bytes(3, "little") + ELF
    zipped(path, (b"x.tar.zst", frame))


@case("images", "FS0503")
def _(path):
    path.write_bytes(ELF + fatbin(*[entry()] * 400_001))


@case("images", "FS0503", "list", "modules.so")
def _(path):
    path.write_bytes(ELF + fatbin(entry()) * 400_001)


@case("images", "FS0503", "list --format json", "json.so", bound=LIST)
def _(path):
    path.write_bytes(ELF + fatbin(entry()) * 400_001)


@case("images", "FS0503", "list", "members.zip")
def _(path):
    members(path, 200_001, 7, data=ELF + fatbin(entry()) * 2, ending=b".so")


@case("kernels", "FS0508", "kernels")
def _(path):
    part = 65_500
    count = 1_000_001
    texts = (ptx(b"k%x" % number for number in range(first, min(first + part, count))) for first in range(0, count, part))
    path.write_bytes(ELF + fatbin(*map(packed, texts)))


@case("functions", "", "kernels")
def _(path):
    path.write_bytes(ELF + fatbin(packed(ptx(b"k%x" % number for number in range(65_537))), packed(ptx([b"other"]))))


def with_options(length):
    head = struct.pack("<II", 72, length) + b"o" * length + bytes(8)
    return entry(header=head, texts=(64, 0, 0))


@case("text_bytes", "FS0505", name="x.zip")
def _(path):
    zipped(path, (b"x.so", ELF + fatbin(*[with_options(60_000)] * 1_200)))


@case("text_bytes", "FS0505", "kernels", "kernels.zip")
def _(path):
    text = ptx(b"k%0*d" % (1_000, number) for number in range(35_000))
    more = ptx(b"l%0*d" % (1_000, number) for number in range(35_000))
    zipped(path, (b"x.so", ELF + fatbin(packed(text), packed(more))))


@case("name_bytes", "FS0505", name="x.a")
def _(path):
    name = b"n" * 5_000 + b".o"
    data = name + ELF + fatbin(entry())
    path.write_bytes(b"!<arch>\n" + member_of_archive(b"#1/%d" % len(name), data))


@case("name_bytes", "FS0505", name="section.so")
def _(path):
    # the section that holds the fatbin has a name of 5,000 bytes
    code = fatbin(entry())
    strings = b"\0" + b"s" * 5_000 + b"\0"
    rows = [(0, 0, 0, 0), (1, 1, 64, len(code)), (0, 3, 64 + len(code), len(strings))]
    table = b"".join(struct.pack("<IIQQQQIIQQ", name, kind, 2, 0, at, size, 0, 0, 1, 0) for name, kind, at, size in rows)
    head = ELF[:16] + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(code) + len(strings), 0, 64, 56, 0, 64, 3, 2)
    path.write_bytes(head + code + strings + table)


@case("entry_header", "FS0305")
def _(path):
    header = bytes(MIB) + b"name\0" + bytes(3)
    path.write_bytes(ELF + fatbin(entry(header=header, texts=(0, 64 + MIB, 4))))


@case("cubin_bytes", "FS0310", name="x.cubin")
def _(path):
    at = 16 * MIB
    head = b"\x7fELF\x02\x01\x01\x41\x08" + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at, 90 << 8, 64, 56, 0, 64, 1, 0)
    path.write_bytes(head)
    os.truncate(path, at + 64)


def wide_table(count, code=b""):
    """An ELF file whose section table counts its rows in its first one."""
    at = 64 + len(code)
    head = ELF[:16] + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at, 0, 64, 56, 0, 64, 0, 0)
    row = struct.pack("<IIQQQQIIQQ", 0, 1, 0, 0, 0, 8, 0, 0, 0, 0)
    return head + code + struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count, 0, 0, 0, 0) + row * (count - 1)


@case("table_bytes", "FS0210", level=0)
def _(path):
    path.write_bytes(wide_table(65_600, fatbin(entry())))


@case("table_bytes", "FS0510", "list --verify", "x-1-py3-none-any.whl")
def _(path):
    code = ELF + fatbin(entry(payload=b".version 8.5\n.target sm_90\n"))
    zipped(path, (b"x.so", code), (b"x-1.dist-info/RECORD", b"x.so,,\n" * (4 * MIB // 7 + 1)))


@case("table_bytes", "FS0218", name="x.a")
def _(path):
    names = member_of_archive(b"//", b"a.o/\n" * (MIB // 5 + 1))
    path.write_bytes(b"!<arch>\n" + names + member_of_archive(b"/0", ELF + fatbin(entry())))


@case("table_bytes", "", "list", "many-tables.zip", level=0)
def _(path):
    # tables just below the limit, by all threads at once
    table = wide_table(65_500, fatbin(entry()))
    zipped(path, *((b"%d.so" % number, table) for number in range(64)))


@case("ptx_bytes", "FS0506", "kernels", "x.ptx")
def _(path):
    path.write_bytes(ptx([b"k"]) + b"// \n" * (4 * MIB + 1))


@case("payload_bytes", "FS0506", "list --verify")
def _(path):
    size = (256 << 20) + 1
    path.write_bytes(ELF + fatbin(entry(SASS, stored_zstd(size), ZSTD, size)))


@case("payload_bytes", "", "kernels", "kernels.so")
def _(path):
    size = (256 << 20) + 1
    path.write_bytes(ELF + fatbin(entry(SASS, stored_zstd(size), ZSTD, size), packed(ptx([b"other"]))))


@case("wrappers", "FS0511", name="x.zip")
def _(path):
    record = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0)
    zipped(path, (b"x.so", ELF + fatbin(entry()) + record * ((1 << 20) + 1)))


@case("reread_bytes", "FS0504")
def _(path):
    broken = fatbin(entry(), entry(padded=1 << 40))
    path.write_bytes(ELF + bytes(10 * MIB) + broken * 20)


@case("diagnostics", "FS0507")
def _(path):
    broken = fatbin(entry(), entry(padded=1 << 40))
    path.write_bytes(ELF + broken * 300)


@case("live_bytes", "FS0509", "list --verify")
def _(path):
    size = 200 << 20
    path.write_bytes(ELF + fatbin(entry(SASS, stored_zstd(size), ZSTD, size)))


@case("live_bytes", "", "kernels", "kernels.so")
def _(path):
    size = 250 << 20
    path.write_bytes(ELF + fatbin(entry(SASS, stored_zstd(size), ZSTD, size), packed(ptx([b"other"]))))


@case("live_bytes", "", "list --verify", "many.so")
def _(path):
    # as large as is unpacked at all, for all threads at once
    size = 90 << 20
    path.write_bytes(ELF + fatbin(*[entry(SASS, stored_zstd(size), ZSTD, size)] * 16))


@case("held_bytes", "FS0211", name="x.zip")
def _(path):
    inner = path.with_name("inner.zip")
    made = Zip(inner)
    made.member(b"x.so", ELF + fatbin(entry()) + bytes(64 * MIB))
    made.close()
    zipped(path, (b"inner.zip", inner.read_bytes()))
    inner.unlink()


# --- the measuring

def anonymous(pid):
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            found = re.search(rb"RssAnon:\s+(\d+) kB", status.read())
            return int(found.group(1)) * 1024 if found else 0
    except OSError:
        return 0


def measured(command, folder):
    """Peak of RssAnon, seconds, exit code, text of both streams."""
    peak, start = 0, time.monotonic()
    with open(folder / "out", "wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        while child.poll() is None:
            peak = max(peak, anonymous(child.pid))
            if time.monotonic() - start > PATIENCE:
                child.kill()
            time.sleep(0.001)
    took = time.monotonic() - start
    codes = set()
    with open(folder / "out", errors="replace") as out:
        for line in out:
            codes.update(re.findall(r"\bFS0\d{3}\b", line))
    return peak, took, child.returncode, codes


def amount(size):
    return f"{size / MB:.1f} MB" if size >= MB else f"{size / 1000:.1f} kB"


def fields():
    """Field and default, as LIMITS.md has them."""
    text = (ROOT / "docs/LIMITS.md").read_text()
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", text, re.M))


def main():
    defaults = fields()
    unknown = {case[0] for case in CASES} ^ defaults.keys()
    if unknown:
        print(f"FAILED  no input, or no such limit: {', '.join(sorted(unknown))}")
        return 1
    wanted = sys.argv[1:] or list(defaults)
    failed, start = [], time.monotonic()
    print("| field | default | input | size | command | diagnostic | exit code | peak RssAnon | seconds |\n|---|---|---|---|---|---|---|---|---|")
    for field, code, command, name, level, bound, make in CASES:
        if field not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            path = folder / name
            make(path)
            size = path.stat().st_blocks * 512 if path.stat().st_blocks * 512 < path.stat().st_size else path.stat().st_size
            peak, took, ended, codes = measured([str(PROGRAM), *command, "--threads", "16", str(path)], folder)
            said = ", ".join(sorted(codes)) or "none"
            print(f"| `{field}` | {defaults[field]} | {name} | {amount(size)} | `{' '.join(command)}` | {said} | {ended} | {amount(peak)} | {took:.1f} |", flush=True)
            if code and code not in codes:
                failed.append(f"{field}, {name}: {code} is not said")
            if ended != level:
                failed.append(f"{field}, {name}: exit code {ended}, not {level}")
            if peak > bound:
                failed.append(f"{field}, {name}: {amount(peak)}, more than {amount(bound)}")
    print(f"\n{time.monotonic() - start:.0f} s")
    for line in failed:
        print(f"FAILED  {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
