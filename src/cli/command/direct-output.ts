import { fstatSync, writeSync } from 'node:fs';
import type { Output } from '../terminal/io.ts';

/**
 * Returns an output that writes to the file descriptor synchronously, if that is a file, a pipe or
 * a socket. It avoids `process.stdout`, which takes as long to open as the rest of help.
 * Uses `stream` for a terminal, and for the rest of a text when a write fails.
 */
export function directOutput(fd: number, stream: Output): Output {
  const kind = fstatSync(fd);
  if (!kind.isFile() && !kind.isFIFO() && !kind.isSocket()) return stream;
  return { isTTY: false, write: (text) => writeAll(fd, Buffer.from(text), stream) };
}

function writeAll(fd: number, bytes: Buffer, stream: Output): void {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch {
    // EAGAIN, EPIPE or ENOSPC: the stream waits, or reports the error.
    stream.write(bytes.subarray(written));
  }
}
