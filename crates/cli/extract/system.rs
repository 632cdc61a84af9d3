//! A folder as the system gives it. Names are single names, and no link that has one is followed.

pub(super) use here::Handle;

/// What has a name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    Link,
    Something,
}

#[cfg(unix)]
mod here {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
    use rustix::io::Errno;

    use super::There;

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    const NEW: OFlags =
        OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// An open folder: whoever moves it or puts a link in its place changes nothing.
    #[derive(Debug)]
    pub(in super::super) struct Handle(OwnedFd);

    impl Handle {
        /// The folder at a path, also behind a link.
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
        }

        /// The folder of a name, which is made where nothing has the name.
        pub(in super::super) fn below(&self, name: &str) -> io::Result<Self> {
            match fs::mkdirat(&self.0, name, Mode::from(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {
                    Ok(Self(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
                }
                Err(error) => Err(error.into()),
            }
        }

        pub(in super::super) fn look(&self, name: &str) -> io::Result<There> {
            match fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => Ok(There::Link),
                Ok(_) => Ok(There::Something),
                Err(Errno::NOENT) => Ok(There::Nothing),
                Err(error) => Err(error.into()),
            }
        }

        /// A file that was not there.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            Ok(File::from(fs::openat(&self.0, name, NEW, Mode::from(0o666))?))
        }

        /// Gives a file another name; what has that name, a link too, goes.
        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            Ok(fs::renameat(&self.0, from, &self.0, to)?)
        }

        pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
            Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
        }
    }
}

#[cfg(not(unix))]
mod here {
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    use super::There;

    /// The path of a folder: links are looked for before each step.
    #[derive(Debug)]
    pub(in super::super) struct Handle(PathBuf);

    impl Handle {
        /// The folder at a path, also behind a link.
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            fs::read_dir(path)?;
            Ok(Self(path.to_owned()))
        }

        /// The folder of a name, which is made where nothing has the name.
        pub(in super::super) fn below(&self, name: &str) -> io::Result<Self> {
            if self.look(name)? == There::Nothing {
                fs::create_dir(self.0.join(name))?;
            }
            if !fs::symlink_metadata(self.0.join(name))?.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            Ok(Self(self.0.join(name)))
        }

        pub(in super::super) fn look(&self, name: &str) -> io::Result<There> {
            match fs::symlink_metadata(self.0.join(name)) {
                Ok(found) if found.is_symlink() => Ok(There::Link),
                Ok(_) => Ok(There::Something),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(There::Nothing),
                Err(error) => Err(error),
            }
        }

        /// A file that was not there.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            File::create_new(self.0.join(name))
        }

        /// Gives a file another name; what has that name, a link too, goes.
        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
            fs::remove_file(self.0.join(name))
        }
    }
}
