/** A type of files that the service keeps. */
export interface MediaTypeRow {
  /** In the path of a file. */
  extension: string;
  /** Other extensions in use. */
  alsoNamed?: readonly string[];
  /** In the playlist items that show the file. */
  creativeType: 'image' | 'video' | 'html';
  /** In messages. */
  name: string;
}

/** By the content type that the service sends, as the package file-type names it. */
export const mediaTypes = {
  'image/png': { extension: 'png', creativeType: 'image', name: 'a PNG image' },
  'image/jpeg': {
    extension: 'jpg',
    alsoNamed: ['jpeg'],
    creativeType: 'image',
    name: 'a JPEG image',
  },
  'image/webp': { extension: 'webp', creativeType: 'image', name: 'a WebP image' },
  'image/gif': { extension: 'gif', creativeType: 'image', name: 'a GIF image' },
  'image/avif': { extension: 'avif', creativeType: 'image', name: 'an AVIF image' },
  'image/svg+xml': { extension: 'svg', creativeType: 'image', name: 'an SVG image' },
  'video/mp4': {
    extension: 'mp4',
    alsoNamed: ['m4v'],
    creativeType: 'video',
    name: 'an MP4 video',
  },
  'video/webm': { extension: 'webm', creativeType: 'video', name: 'a WebM video' },
  'text/html': {
    extension: 'html',
    alsoNamed: ['htm'],
    creativeType: 'html',
    name: 'an HTML page',
  },
} as const satisfies Record<string, MediaTypeRow>;

export type MediaType = keyof typeof mediaTypes;
export const mediaTypeNames = Object.keys(mediaTypes) as MediaType[];
/** Returns whether the service keeps files of this type. */
export const isMediaType = (type: string): type is MediaType => Object.hasOwn(mediaTypes, type);
