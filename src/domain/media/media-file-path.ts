/** Returns the path of a file in a media folder: `ab/abcd…` for an id that begins with `ab`. */
export const mediaFilePath = (id: string): string => `${id.slice(0, 2)}/${id}`;

/** Name of the media folder in a data folder. */
export const mediaFolder = 'media';
