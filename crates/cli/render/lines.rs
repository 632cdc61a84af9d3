//! One JSON value a line, written while the scan goes on.

use core::ops::ControlFlow;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use fatscan::json::{self, SCHEMA};
use fatscan::{Artefact, Diagnostic, Level, Locator, Member, Report, Sink, Unread};
use serde::Serialize;
use serde_json::json;

use crate::args::By;
use crate::escape::json_line;
use crate::output::Pipe;

/// Writes members or modules as they are read, an artefact when it ends, and at last the diagnostics and what was not
/// read, by place. Of members nothing is kept, but by artefact those of the ones that have not ended.
pub(crate) struct Lines<W: Write> {
    out: BufWriter<Pipe<W>>,
    by: By,
    /// Artefacts that have begun, by where they are.
    open: HashMap<Locator, Open>,
    diagnostics: Vec<Diagnostic>,
    unread: Vec<Unread>,
    end: End,
    failed: Option<io::Error>,
}

/// What the exit code depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    /// Something was read.
    pub(crate) read: bool,
    /// Something is damaged or missing.
    pub(crate) damaged: bool,
}

#[derive(Default)]
struct Open {
    has_members: bool,
    /// Where the artefact is one line.
    members: Vec<Member>,
}

/// The lines of a report that is there as a whole.
pub(crate) fn replay(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    let mut lines = Lines::new(BufWriter::new(Pipe::new(out)), by);
    // an error is kept in the sink
    for artefact in &report.artefacts {
        let mut head = artefact.clone();
        head.members.clear();
        let _ = lines.begin(&head);
        for member in &artefact.members {
            let _ = lines.member(&head, member.clone());
        }
        let _ = lines.end(&head);
    }
    for diagnostic in &report.diagnostics {
        let _ = lines.diagnostic(diagnostic.clone());
    }
    for unread in &report.unread {
        let _ = lines.unread(unread.clone());
    }
    lines.finish().map(drop)
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(out: BufWriter<Pipe<W>>, by: By) -> Self {
        let (open, diagnostics, unread) = (HashMap::new(), Vec::new(), Vec::new());
        Self { out, by, open, diagnostics, unread, end: End::default(), failed: None }
    }

    /// Writes what is kept for the end.
    pub(crate) fn finish(mut self) -> io::Result<End> {
        self.diagnostics.sort();
        self.unread.sort();
        for diagnostic in core::mem::take(&mut self.diagnostics) {
            self.line(&json!({ "schema": SCHEMA, "diagnostic": json::Diagnostic::from(&diagnostic) }));
        }
        for unread in core::mem::take(&mut self.unread) {
            self.line(&json!({ "schema": SCHEMA, "unread": json::Unread::from(&unread) }));
        }
        // a scan that was ended by an error ends with it
        let _ = self.written();
        self.failed.map_or(Ok(self.end), Err)
    }

    fn is_closed(&self) -> bool {
        self.out.get_ref().is_closed()
    }

    fn line(&mut self, value: &impl Serialize) {
        if self.failed.is_none() && !self.is_closed() {
            self.failed = json_line(&mut self.out, value).err();
        }
    }

    /// Hands on what was written.
    fn written(&mut self) -> ControlFlow<()> {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
        self.go_on()
    }

    /// Where nobody reads any more, the scan goes on in silence until its exit code is certain: damage that is still to
    /// come must not be lost with the reader.
    fn go_on(&self) -> ControlFlow<()> {
        let is_certain = self.end.read && self.end.damaged;
        if self.failed.is_some() || (self.is_closed() && is_certain) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<W: Write> Sink for Lines<W> {
    fn begin(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        self.open.insert(artefact.at.clone(), Open::default());
        self.go_on()
    }

    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()> {
        let Some(open) = self.open.get_mut(&artefact.at) else { return self.go_on() };
        open.has_members = true;
        let path = &artefact.path;
        match self.by {
            By::Artefact => open.members.push(member),
            By::Member => {
                self.line(&json!({ "schema": SCHEMA, "path": path, "member": json::Member::new(&member, false) }));
            }
            By::Module => {
                for module in &member.modules {
                    let module = json::Module::new(&member, module);
                    let line = json!({ "schema": SCHEMA, "path": path, "member": member.path, "module": module });
                    self.line(&line);
                }
            }
        }
        self.written()
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        self.end.damaged |= diagnostic.level == Level::Error;
        if !self.is_closed() {
            self.diagnostics.push(diagnostic);
        }
        self.go_on()
    }

    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        if !self.is_closed() {
            self.unread.push(unread);
        }
        self.go_on()
    }

    fn end(&mut self, artefact: &Artefact) -> ControlFlow<()> {
        let Some(mut open) = self.open.remove(&artefact.at) else { return self.go_on() };
        self.end.read = true;
        if self.by == By::Artefact || !open.has_members {
            open.members.sort_by(|a, b| (&a.path, &a.at).cmp(&(&b.path, &b.at)));
            let mut whole = artefact.clone();
            whole.members = open.members;
            self.line(&json!({ "schema": SCHEMA, "artefact": json::Artefact::new(&whole, false) }));
        }
        self.written()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use fatscan::{ByteSource, Input, Options, Scanner};

    use super::*;

    const PTX: &[u8] = b".version 8.5\n.target sm_90a\n.visible .entry k() { ret; }\n";

    /// Says when something was written.
    struct Told {
        tell: Sender<()>,
        text: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.text.lock().unwrap().extend_from_slice(bytes);
            let _ = self.tell.send(());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Gives its first byte only once something was written.
    #[derive(Debug)]
    struct Waits {
        wait: Mutex<Option<Receiver<()>>>,
        was_written: Mutex<Option<bool>>,
    }

    impl ByteSource for Waits {
        fn len(&self) -> u64 {
            PTX.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            if let Some(wait) = self.wait.lock().unwrap().take() {
                let written = wait.recv_timeout(Duration::from_secs(20)).is_ok();
                *self.was_written.lock().unwrap() = Some(written);
            }
            let rest = PTX.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let length = rest.len().min(buffer.len());
            buffer.split_at_mut(length).0.copy_from_slice(rest.split_at(length).0);
            Ok(length)
        }

        fn as_slice(&self) -> Option<&[u8]> {
            None
        }
    }

    #[test]
    fn the_first_line_comes_before_the_last_input_is_read() {
        for threads in [1, 2] {
            let (tell, wait) = channel();
            let text = Arc::new(Mutex::new(Vec::new()));
            let last = Waits { wait: Mutex::new(Some(wait)), was_written: Mutex::new(None) };
            let out = Told { tell, text: Arc::clone(&text) };
            let mut lines = Lines::new(BufWriter::new(Pipe::new(out)), By::Member);
            let inputs = [Input::Bytes { name: "a.ptx", bytes: PTX }, Input::Source { name: "b.ptx", source: &last }];
            let flow = Scanner::new(Options::new().with_threads(threads)).unwrap().scan(&inputs, &mut lines);
            assert!(flow.is_continue());
            assert_eq!(lines.finish().unwrap(), End { read: true, damaged: false });
            assert_eq!(*last.was_written.lock().unwrap(), Some(true), "{threads} threads");
            let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
            let members: Vec<bool> = text.lines().map(|line| line.contains(r#""path":"a.ptx""#)).collect();
            assert_eq!(members, [true, false], "{text}");
        }
    }

    /// The end of a pipe that nobody reads.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_ends_the_scan_once_its_code_is_certain() {
        let good = Input::Bytes { name: "a.ptx", bytes: PTX };
        let missing = Input::Path(Path::new("there is no such file"));
        // damage behind the closed pipe is still found; behind damage nothing is read that cannot change the code
        for (inputs, ends, damaged) in
            [([good, good], false, false), ([good, missing], true, true), ([missing, good], true, true)]
        {
            let mut lines = Lines::new(BufWriter::new(Pipe::new(Closed)), By::Member);
            let flow = Scanner::new(Options::new()).unwrap().scan(&inputs, &mut lines);
            assert_eq!(flow.is_break(), ends);
            assert_eq!(lines.finish().unwrap(), End { read: true, damaged });
        }
    }

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_of_writing_ends_the_scan_and_is_told() {
        let good = Input::Bytes { name: "a.ptx", bytes: PTX };
        let mut lines = Lines::new(BufWriter::new(Pipe::new(Full)), By::Member);
        assert!(Scanner::new(Options::new()).unwrap().scan(&[good, good], &mut lines).is_break());
        assert_eq!(lines.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
