//! The toolkits and what their assemblers take.
//!
//! Generated from `tables/toolkits.toml` by `tables/generate.py`; the sources of the facts are named there.

use super::{A, F, N, arch, cuda, driver1, driver2, driver3, isa};
use crate::arch::Arch;
use crate::catalogue::Toolkit;
use crate::isa::Isa;

/// Every toolkit from 8.0 on, ascending.
#[rustfmt::skip]
pub(crate) static TOOLKITS: &[Toolkit] = &[
    Toolkit { version: cuda(8, 0), archs: &[arch(20, N), arch(21, N), arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N)], isa: isa(5, 0), default_arch: arch(20, N), driver_linux: Some(driver2(367, 48)), driver_windows: Some(driver2(369, 30)), measured: false },
    Toolkit { version: cuda(9, 0), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N)], isa: isa(6, 0), default_arch: arch(30, N), driver_linux: Some(driver2(384, 81)), driver_windows: Some(driver2(385, 54)), measured: false },
    Toolkit { version: cuda(9, 1), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N)], isa: isa(6, 1), default_arch: arch(30, N), driver_linux: Some(driver2(390, 46)), driver_windows: Some(driver2(391, 29)), measured: false },
    Toolkit { version: cuda(9, 2), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N)], isa: isa(6, 2), default_arch: arch(30, N), driver_linux: Some(driver2(396, 26)), driver_windows: Some(driver2(397, 44)), measured: false },
    Toolkit { version: cuda(10, 0), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N)], isa: isa(6, 3), default_arch: arch(30, N), driver_linux: Some(driver2(410, 48)), driver_windows: Some(driver2(411, 31)), measured: false },
    Toolkit { version: cuda(10, 1), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N)], isa: isa(6, 4), default_arch: arch(30, N), driver_linux: Some(driver2(418, 39)), driver_windows: Some(driver2(418, 96)), measured: false },
    Toolkit { version: cuda(10, 2), archs: &[arch(30, N), arch(32, N), arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N)], isa: isa(6, 5), default_arch: arch(30, N), driver_linux: Some(driver2(440, 33)), driver_windows: Some(driver2(441, 22)), measured: false },
    Toolkit { version: cuda(11, 0), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N)], isa: isa(7, 0), default_arch: arch(52, N), driver_linux: Some(driver3(450, 51, 5)), driver_windows: Some(driver2(451, 48)), measured: false },
    Toolkit { version: cuda(11, 1), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N)], isa: isa(7, 1), default_arch: arch(52, N), driver_linux: Some(driver2(455, 23)), driver_windows: Some(driver2(456, 38)), measured: false },
    Toolkit { version: cuda(11, 2), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N)], isa: isa(7, 2), default_arch: arch(52, N), driver_linux: Some(driver3(460, 27, 3)), driver_windows: Some(driver2(460, 82)), measured: false },
    Toolkit { version: cuda(11, 3), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N)], isa: isa(7, 3), default_arch: arch(52, N), driver_linux: Some(driver3(465, 19, 1)), driver_windows: Some(driver2(465, 89)), measured: false },
    Toolkit { version: cuda(11, 4), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N)], isa: isa(7, 4), default_arch: arch(52, N), driver_linux: Some(driver3(470, 42, 1)), driver_windows: Some(driver2(471, 11)), measured: false },
    Toolkit { version: cuda(11, 5), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N)], isa: isa(7, 5), default_arch: arch(52, N), driver_linux: Some(driver3(495, 29, 5)), driver_windows: Some(driver2(496, 4)), measured: false },
    Toolkit { version: cuda(11, 6), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N)], isa: isa(7, 6), default_arch: arch(52, N), driver_linux: Some(driver3(510, 39, 1)), driver_windows: Some(driver2(511, 23)), measured: false },
    Toolkit { version: cuda(11, 7), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N)], isa: isa(7, 7), default_arch: arch(52, N), driver_linux: Some(driver3(515, 43, 4)), driver_windows: Some(driver2(516, 1)), measured: true },
    Toolkit { version: cuda(11, 8), archs: &[arch(35, N), arch(37, N), arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N)], isa: isa(7, 8), default_arch: arch(52, N), driver_linux: Some(driver3(520, 61, 5)), driver_windows: Some(driver2(520, 6)), measured: true },
    Toolkit { version: cuda(12, 0), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 0), default_arch: arch(52, N), driver_linux: Some(driver3(525, 60, 13)), driver_windows: Some(driver2(527, 41)), measured: true },
    Toolkit { version: cuda(12, 1), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 1), default_arch: arch(52, N), driver_linux: Some(driver3(530, 30, 2)), driver_windows: Some(driver2(531, 14)), measured: true },
    Toolkit { version: cuda(12, 2), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 2), default_arch: arch(52, N), driver_linux: Some(driver3(535, 54, 3)), driver_windows: Some(driver2(536, 25)), measured: true },
    Toolkit { version: cuda(12, 3), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 3), default_arch: arch(52, N), driver_linux: Some(driver3(545, 23, 6)), driver_windows: Some(driver2(545, 84)), measured: true },
    Toolkit { version: cuda(12, 4), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 4), default_arch: arch(52, N), driver_linux: Some(driver3(550, 54, 14)), driver_windows: Some(driver2(551, 61)), measured: true },
    Toolkit { version: cuda(12, 5), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 5), default_arch: arch(52, N), driver_linux: Some(driver3(555, 42, 2)), driver_windows: Some(driver2(555, 85)), measured: true },
    Toolkit { version: cuda(12, 6), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(90, A)], isa: isa(8, 5), default_arch: arch(52, N), driver_linux: Some(driver3(560, 28, 3)), driver_windows: Some(driver2(560, 76)), measured: true },
    Toolkit { version: cuda(12, 8), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(100, N), arch(101, N), arch(120, N), arch(90, A), arch(100, A), arch(101, A), arch(120, A)], isa: isa(8, 7), default_arch: arch(52, N), driver_linux: Some(driver2(570, 26)), driver_windows: Some(driver2(570, 65)), measured: true },
    Toolkit { version: cuda(12, 9), archs: &[arch(50, N), arch(52, N), arch(53, N), arch(60, N), arch(61, N), arch(62, N), arch(70, N), arch(72, N), arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(89, N), arch(90, N), arch(100, N), arch(101, N), arch(103, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(101, A), arch(101, F), arch(103, A), arch(103, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(8, 8), default_arch: arch(52, N), driver_linux: Some(driver3(575, 51, 3)), driver_windows: Some(driver2(576, 2)), measured: true },
    Toolkit { version: cuda(13, 0), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 0), default_arch: arch(75, N), driver_linux: Some(driver3(580, 65, 6)), driver_windows: None, measured: true },
    Toolkit { version: cuda(13, 1), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 1), default_arch: arch(75, N), driver_linux: Some(driver3(590, 44, 1)), driver_windows: None, measured: true },
    Toolkit { version: cuda(13, 2), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 2), default_arch: arch(75, N), driver_linux: Some(driver3(595, 45, 4)), driver_windows: None, measured: true },
    Toolkit { version: cuda(13, 3), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 3), default_arch: arch(75, N), driver_linux: Some(driver3(610, 43, 2)), driver_windows: None, measured: true },
    Toolkit { version: cuda(13, 4), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(107, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(107, A), arch(107, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 4), default_arch: arch(75, N), driver_linux: Some(driver1(615)), driver_windows: None, measured: true },
    Toolkit { version: cuda(13, 5), archs: &[arch(75, N), arch(80, N), arch(86, N), arch(87, N), arch(88, N), arch(89, N), arch(90, N), arch(100, N), arch(103, N), arch(107, N), arch(110, N), arch(120, N), arch(121, N), arch(90, A), arch(100, A), arch(100, F), arch(103, A), arch(103, F), arch(107, A), arch(107, F), arch(110, A), arch(110, F), arch(120, A), arch(120, F), arch(121, A), arch(121, F)], isa: isa(9, 5), default_arch: arch(75, N), driver_linux: None, driver_windows: None, measured: true },
];

/// The first PTX ISA that takes a `.target`.
#[rustfmt::skip]
pub(crate) static FIRST_ISA: &[(Arch, Isa)] = &[
    (arch(30, N), isa(3, 1)),
    (arch(32, N), isa(4, 0)),
    (arch(35, N), isa(3, 1)),
    (arch(37, N), isa(4, 1)),
    (arch(50, N), isa(4, 0)),
    (arch(52, N), isa(4, 1)),
    (arch(53, N), isa(4, 2)),
    (arch(60, N), isa(5, 0)),
    (arch(61, N), isa(5, 0)),
    (arch(62, N), isa(5, 0)),
    (arch(70, N), isa(6, 0)),
    (arch(72, N), isa(6, 1)),
    (arch(75, N), isa(6, 3)),
    (arch(80, N), isa(7, 0)),
    (arch(86, N), isa(7, 1)),
    (arch(87, N), isa(7, 4)),
    (arch(88, N), isa(9, 0)),
    (arch(89, N), isa(7, 8)),
    (arch(90, N), isa(7, 8)),
    (arch(90, A), isa(8, 0)),
    (arch(100, N), isa(8, 6)),
    (arch(100, A), isa(8, 6)),
    (arch(100, F), isa(8, 8)),
    (arch(101, N), isa(8, 6)),
    (arch(101, A), isa(8, 6)),
    (arch(101, F), isa(8, 8)),
    (arch(103, N), isa(8, 8)),
    (arch(103, A), isa(8, 8)),
    (arch(103, F), isa(8, 8)),
    (arch(107, N), isa(9, 4)),
    (arch(107, A), isa(9, 4)),
    (arch(107, F), isa(9, 4)),
    (arch(110, N), isa(9, 0)),
    (arch(110, A), isa(9, 0)),
    (arch(110, F), isa(9, 0)),
    (arch(120, N), isa(8, 7)),
    (arch(120, A), isa(8, 7)),
    (arch(120, F), isa(8, 8)),
    (arch(121, N), isa(8, 8)),
    (arch(121, A), isa(8, 8)),
    (arch(121, F), isa(8, 8)),
];
