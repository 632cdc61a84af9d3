//! Writes the sample wheel of the README, byte for byte the same each time:
//! `cargo run -p testkit --example sample_wheel -- fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl`

fn main() -> std::io::Result<()> {
    let default = testkit::sample::NAME.to_owned();
    std::fs::write(std::env::args().nth(1).unwrap_or(default), testkit::sample::wheel())
}
