import { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } from 'mediabunny';

/** Reads parts of a file, wherever it lies. */
export interface ByteSource {
  /** Size of the file, in bytes. */
  size: number;
  /** Returns the bytes from `start` up to but not including `end`, which is at most `size`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** What the index of a video says. */
export interface Video {
  /**
   * In seconds. `undefined`: the file does not say, such as a fragmented MP4 or a live recording.
   */
  duration: number | undefined;
  /** The reason why many TVs do not play the video, and the remedy. */
  flaw: string | undefined;
}

const convert =
  'Convert it: ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4';

/** H.264 profiles with 4:2:2 or 4:4:4 colours, which no TV decodes in hardware. */
const richColours = /^avc1\.(?:7a|f4)/i;

function flawOf(codec: string | null, parameters: string | null): string | undefined {
  if (codec === 'hevc')
    return `is encoded as HEVC (H.265), which most browsers do not play. ${convert}`;
  if (richColours.test(parameters ?? ''))
    return `has a colour format (4:2:2 or 4:4:4) that most TVs do not play. ${convert}`;
  return undefined;
}

/** Bytes that stay in memory for a further read. */
const maxCacheBytes = 1024 * 1024;

/**
 * Boxes of an MP4 with a row for each frame (ISO 14496-12 §8.6, §8.7), and the box that announces
 * fragments, which have such rows (§8.8.1). Neither length nor codec follows from them. They may
 * have millions of rows, or say so.
 */
const hidden = ['stts', 'ctts', 'stsz', 'stz2', 'stss', 'stsc', 'stco', 'co64', 'mvex'].map(
  (name) => Buffer.from(name, 'latin1'),
);
const freeBox = Buffer.from('free', 'latin1');

/** Returns a source in which these boxes are free space, for a reader that would expand them. */
function withoutSampleTables({ size, read }: ByteSource): ByteSource {
  return {
    size,
    async read(start, end) {
      // A name may lie across the border of two reads.
      const from = Math.max(0, start - 3);
      const bytes = Buffer.from(await read(from, Math.min(size, end + 3)));
      for (const name of hidden)
        for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at))
          freeBox.copy(bytes, at);
      return bytes.subarray(start - from, end - from);
    },
  };
}

/**
 * Reads length and codec of a video from its index: a few small reads, wherever the index is. Gives
 * nothing for a file that it cannot read.
 */
export async function readVideo(file: ByteSource): Promise<Video> {
  const { size, read } = withoutSampleTables(file);
  const source = new CustomSource({
    getSize: () => size,
    read,
    maxCacheSize: maxCacheBytes,
    // The read that needs these bytes fails, too.
    handleUnhandledError: () => {},
  });
  const input = new Input({ formats: [MP4, QTFF, WEBM, MATROSKA], source });
  try {
    const seconds = await input.getDurationFromMetadata();
    const track = await input.getPrimaryVideoTrack();
    const flaw = track ? flawOf(track.codec, await track.getCodecParameterString()) : undefined;
    return { duration: seconds !== null && seconds > 0 ? seconds : undefined, flaw };
  } catch {
    return { duration: undefined, flaw: undefined };
  } finally {
    input.dispose();
  }
}
