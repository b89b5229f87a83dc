use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 18;

#[derive(Debug)]
pub struct BlockFile {
    file: File,
    buffer: Vec<u8>,
    written: u64,
    failed: bool,
}

impl BlockFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        let buffer = Vec::with_capacity(BUFFER_BYTES + (1 << 17));
        Ok(Self { file: File::create(path)?, buffer, written: 0, failed: false })
    }

    /// The caller must call this after each block.
    pub fn end_block(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn give_up(&mut self, more: usize) {
        let whole = whole_blocks(&self.buffer[..more]);
        self.buffer.clear();
        self.failed = true;
        // An error is ignored: a device or a pipe cannot be cut, so the bytes already written stay
        // there.
        let _ = self.file.set_len(self.written + whole as u64);
    }
}

/// A write never fails, so blocks in the buffer are never cut.
impl Write for BlockFile {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(part);
        Ok(part.len())
    }

    /// Must not be called while a block is incomplete.
    fn flush(&mut self) -> io::Result<()> {
        if self.failed {
            self.buffer.clear();
            return Ok(());
        }
        let mut done = 0;
        while done < self.buffer.len() {
            match self.file.write(&self.buffer[done..]) {
                Ok(0) => {
                    self.give_up(done);
                    return Err(io::ErrorKind::WriteZero.into());
                }
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.give_up(done);
                    return Err(error);
                }
            }
        }
        self.written += done as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl Drop for BlockFile {
    /// Writes the blocks in the buffer, so that the file has all packets of a run that ends early.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// The second word of a block is the block's length, here in little endian (pcapng draft, 3.1).
fn whole_blocks(bytes: &[u8]) -> usize {
    let mut end = 0;
    while let Some(length) = bytes.get(end + 4..end + 8) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        if length == 0 || end + length > bytes.len() {
            break;
        }
        end += length;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_block_does_not_count() {
        let block = |length: u32| {
            let mut bytes = vec![0; length as usize];
            bytes[4..8].copy_from_slice(&length.to_le_bytes());
            bytes
        };
        let bytes = [block(12), block(40), block(28)].concat();
        let whole = |n: usize| whole_blocks(&bytes[..n]);
        assert_eq!([0, 7, 12, 51, 52, 79, 80].map(whole), [0, 0, 12, 12, 52, 52, 80]);
    }
}
