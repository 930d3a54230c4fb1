/** Returns the path of a file in a media folder: `ab/abcd…` for an id that begins with `ab`. */
export const mediaFilePath = (id: string): string => `${id.slice(0, 2)}/${id}`;

/** Name of the media folder in a data folder. */
export const mediaFolder = 'media';

/** A part of an upload, as the key of its file in the media store names it. */
export interface PartKey {
  id: string;
  /** The size of the whole file. */
  size: number;
  offset: number;
  length: number;
}

/** Folder of all parts in a media store. */
export const partsFolder = 'parts/';
export const partsOfTenant = (tenantId: string) => `${partsFolder}${tenantId}/`;

export const uploadFolder = (tenantId: string, id: string, size: number) =>
  `${partsOfTenant(tenantId)}${id}-${size}/`;

export const partKey = (tenantId: string, { id, size, offset, length }: PartKey): string =>
  `${uploadFolder(tenantId, id, size)}${offset}-${length}`;

const keyForm = /^parts\/[^/]+\/([0-9a-f]{64})-(\d+)\/(\d+)-(\d+)$/;

/** Reads the key of a part. Returns `undefined` for any other key. */
export function readPartKey(key: string): PartKey | undefined {
  const [, id, size, offset, length] = keyForm.exec(key) ?? [];
  return id === undefined
    ? undefined
    : { id, size: Number(size), offset: Number(offset), length: Number(length) };
}

/** Reads the name of the folder of an upload: the id and the size of its file. */
export function readUploadName(name: string): Pick<PartKey, 'id' | 'size'> | undefined {
  const [, id, size] = /^([0-9a-f]{64})-(\d+)$/.exec(name) ?? [];
  return id === undefined ? undefined : { id, size: Number(size) };
}
