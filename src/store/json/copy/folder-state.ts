import { SignageError } from '../../../domain/error.ts';
import { DocumentFile } from '../checkpoint/document-file.ts';
import type { DocumentOwner } from '../checkpoint/document-owner.ts';
import { readManifest } from '../manifest.ts';
import { recoverParts } from '../open.ts';
import type { PartContext } from '../parts.ts';
import { readSecret } from '../secret.ts';

/** State of a data folder, as a start would read it. */
export type FolderState = Awaited<ReturnType<typeof readFolderState>>;

/** Reads the state of a data folder. Changes nothing on disk. */
export async function readFolderState(context: PartContext) {
  const { disk, directory } = context;
  const { data: manifest } = await readManifest(disk, directory);
  if (manifest.epoch === 0)
    throw new SignageError('store_unusable', `${directory} holds no data. Choose a data folder.`);
  const secret = await readSecret(context, manifest.secret);
  const parts = await recoverParts(context, manifest, secret);
  // After `close`, `prepare` marks all changed documents as due, as in the last checkpoint of a
  // stop.
  await parts.events.close();
  await parts.events.prepare();
  return { context, manifest, secret, parts };
}

/**
 * Yields the lines that documents with this name prefix would have if they were written now,
 * ordered by document name.
 */
export async function* documentLines(state: FolderState, prefix: string): AsyncGenerator<string> {
  const { disk, directory } = state.context;
  const { documents } = state.manifest;
  const owner = state.parts.owners.find(
    ({ kind }) => prefix === kind || prefix.startsWith(`${kind}-`),
  ) as DocumentOwner;
  const names = new Set([...Object.keys(documents), ...owner.dirty()]);
  for (const name of [...names].filter((one) => one.startsWith(`${prefix}-`)).sort()) {
    const entry = documents[name];
    const before = entry && new DocumentFile(disk, `${directory}/documents`, entry);
    const rendered = await owner.render(name, before);
    try {
      yield* rendered?.lines ?? [];
    } finally {
      // Nothing was written, so the owner must render it again next time.
      owner.failed(name);
    }
  }
}
