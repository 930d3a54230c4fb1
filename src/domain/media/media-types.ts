/** A type of files that the service keeps. */
export interface MediaTypeRow {
  /** In the path of a file. */
  extension: string;
  /** In the playlist items that show the file. */
  creativeType: 'image' | 'video' | 'html';
  /** In messages. */
  name: string;
  /**
   * How a whole file ends: as its container says (`riff`, `iso`, `ebml`), as a `gif`, or with these
   * bytes near its end. Absent: it cannot be told.
   */
  end?: string;
}

/** By the content type that the service sends, as the package file-type names it. */
export const mediaTypes = {
  'image/png': {
    extension: 'png',
    creativeType: 'image',
    name: 'a PNG image',
    end: 'IEND\xaeB`\x82',
  },
  'image/jpeg': { extension: 'jpg', creativeType: 'image', name: 'a JPEG image', end: '\xff\xd9' },
  'image/webp': { extension: 'webp', creativeType: 'image', name: 'a WebP image', end: 'riff' },
  'image/gif': { extension: 'gif', creativeType: 'image', name: 'a GIF image', end: 'gif' },
  'image/avif': { extension: 'avif', creativeType: 'image', name: 'an AVIF image', end: 'iso' },
  'image/svg+xml': { extension: 'svg', creativeType: 'image', name: 'an SVG image' },
  'video/mp4': { extension: 'mp4', creativeType: 'video', name: 'an MP4 video', end: 'iso' },
  'video/webm': { extension: 'webm', creativeType: 'video', name: 'a WebM video', end: 'ebml' },
  'text/html': { extension: 'html', creativeType: 'html', name: 'an HTML page' },
} as const satisfies Record<string, MediaTypeRow>;

export type MediaType = keyof typeof mediaTypes;
export const mediaTypeNames = Object.keys(mediaTypes) as MediaType[];
/** Returns whether the service keeps files of this type. */
export const isMediaType = (type: string): type is MediaType => Object.hasOwn(mediaTypes, type);
