import { secondMs } from '../../domain/clock.ts';
import { type Codec, codecs } from '../panel-report.ts';
import { after } from '../settings/timing.ts';

/**
 * A second of an arrow that points up, in each codec, and a red picture of 16 × 8 pixels whose EXIF
 * turns it, in base64. The build inserts the files of the folder `clips`, which ffmpeg made of
 * `color=s=256x256:r=5:d=1,geq=…`.
 */
declare const CLIPS: Readonly<Record<Codec | 'turned', string>>;

/** Time limit of a clip, also on a busy machine. A browser that lacks a codec says so at once. */
const limitMs = 10 * secondMs;
/** A still first frame is no proof of a decoder. */
const playedSeconds = 0.4;

function blobUrl(base64: string, type: string): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return URL.createObjectURL(new Blob([bytes], { type }));
}

const containerOf = (codec: Codec) =>
  codec === 'h264' || codec === 'hevc' ? 'video/mp4' : 'video/webm';

/** Loads the clip of a codec into an element, without sound. */
export function loadClip(video: HTMLVideoElement, codec: Codec): void {
  video.muted = true;
  video.setAttribute('playsinline', '');
  video.src = blobUrl(CLIPS[codec], containerOf(codec));
}

/** Resolves with whether the clip plays on for most of its length. */
async function playsClip(video: HTMLVideoElement, codec: Codec): Promise<boolean> {
  loadClip(video, codec);
  const isPlayed = new Promise<boolean>((resolve) => {
    video.ontimeupdate = () => {
      if (video.currentTime >= playedSeconds && video.videoWidth > 0) resolve(true);
    };
    video.onerror = () => resolve(false);
  });
  void video.play().catch(() => {});
  const isPlaying = await Promise.race([isPlayed, after(limitMs).then(() => false)]);
  URL.revokeObjectURL(video.src);
  video.removeAttribute('src');
  // Frees the decoder. TVs have one or two.
  video.load();
  return isPlaying;
}

/** Returns the codecs that play, one after the other. */
export async function playedCodecs(parent: HTMLElement): Promise<Codec[]> {
  const video = document.createElement('video');
  video.className = 'probe';
  parent.append(video);
  const found: Codec[] = [];
  for (const codec of codecs) if (await playsClip(video, codec)) found.push(codec);
  video.remove();
  return found;
}

/** Returns whether the browser turns a picture as its EXIF says. `undefined`: it shows none. */
export function turnsPictures(): Promise<boolean | undefined> {
  const image = new Image();
  return new Promise((resolve) => {
    image.onload = () => resolve(image.naturalHeight > image.naturalWidth);
    image.onerror = () => resolve(undefined);
    image.src = blobUrl(CLIPS.turned, 'image/jpeg');
  });
}

/** Returns a sound of a tenth of a second, without a tone. */
function silence(): string {
  const samples = 800;
  const header = `RIFF$$$$WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data$$$$`;
  const bytes = Uint8Array.from(header + '\x80'.repeat(samples), (one) => one.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  view.setUint32(4, bytes.length - 8, true);
  view.setUint32(header.length - 4, samples, true);
  return URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' }));
}

/** Returns whether sound may play without a click. `undefined`: the browser plays no such sound. */
export async function allowsSound(): Promise<boolean | undefined> {
  const audio = new Audio(silence());
  try {
    return await Promise.race([
      audio.play().then(() => true),
      after(limitMs).then(() => undefined),
    ]);
  } catch (error) {
    return (error as Error).name === 'NotAllowedError' ? false : undefined;
  } finally {
    audio.removeAttribute('src');
  }
}
