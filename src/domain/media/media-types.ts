/**
 * The types of files that the service keeps, by the content type that it sends. `extension` is in
 * the path of a file, `creativeType` in the playlist items that show it.
 */
export const mediaTypes = {
  'image/png': { extension: 'png', creativeType: 'image' },
  'image/jpeg': { extension: 'jpg', creativeType: 'image' },
  'image/webp': { extension: 'webp', creativeType: 'image' },
  'image/gif': { extension: 'gif', creativeType: 'image' },
  'image/avif': { extension: 'avif', creativeType: 'image' },
  'image/svg+xml': { extension: 'svg', creativeType: 'image' },
  'video/mp4': { extension: 'mp4', creativeType: 'video' },
  'video/webm': { extension: 'webm', creativeType: 'video' },
  'text/html': { extension: 'html', creativeType: 'html' },
} as const;

export type MediaType = keyof typeof mediaTypes;
export const mediaTypeNames = Object.keys(mediaTypes) as MediaType[];
