import { fstatSync, writeSync } from 'node:fs';
import type { Output } from '../terminal/io.ts';

/**
 * An output that goes to the file descriptor itself as long as that takes it, where it is a file or a pipe: for what is told at once, as the process's own
 * stream takes as long to make as everything else that help does. Of a terminal, and where the descriptor takes no more, it is that stream.
 */
export function directOutput(fd: number, stream: Output): Output {
  const kind = fstatSync(fd);
  if (!kind.isFile() && !kind.isFIFO() && !kind.isSocket()) return stream;
  return { isTTY: false, write: (text) => writeAll(fd, Buffer.from(text), stream) };
}

function writeAll(fd: number, bytes: Buffer, stream: Output): void {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(fd, bytes, done);
  } catch {
    // A pipe that is full and does not block, or that nobody reads, or a full disk: the stream waits, or says what there is to say.
    stream.write(bytes.subarray(done));
  }
}
