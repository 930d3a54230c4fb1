/** What the index of a video says. */
export interface Video {
  /**
   * In seconds. `undefined`: the file does not say, such as a fragmented MP4 or a live recording.
   */
  duration: number | undefined;
  /** The reason why many TVs do not play the video, and the remedy. */
  fault: string | undefined;
}

const convert =
  'Convert it: ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4';

/** H.264 profiles with 4:2:2 or 4:4:4 colours, which no TV decodes in hardware. */
const richColours = /^avc1\.(?:7a|f4)/i;

function faultOf(codec: string | null, parameters: string | null): string | undefined {
  if (codec === 'hevc')
    return `is encoded as HEVC (H.265), which most browsers do not play. ${convert}`;
  if (richColours.test(parameters ?? ''))
    return `has a colour format (4:2:2 or 4:4:4) that most TVs do not play. ${convert}`;
  return undefined;
}

/**
 * Reads length and codec of a video from its index: a few small reads, wherever the index is. Gives
 * nothing for a file that it cannot read.
 */
export async function readVideo(place: { path: string } | { url: string }): Promise<Video> {
  const { FilePathSource, Input, MATROSKA, MP4, QTFF, UrlSource, WEBM } = await import(
    'mediabunny'
  );
  const source = 'path' in place ? new FilePathSource(place.path) : new UrlSource(place.url);
  const input = new Input({ formats: [MP4, QTFF, WEBM, MATROSKA], source });
  try {
    const seconds = await input.getDurationFromMetadata();
    const track = await input.getPrimaryVideoTrack();
    const fault = track ? faultOf(track.codec, await track.getCodecParameterString()) : undefined;
    return { duration: seconds !== null && seconds > 0 ? seconds : undefined, fault };
  } catch {
    return { duration: undefined, fault: undefined };
  } finally {
    input.dispose();
  }
}
