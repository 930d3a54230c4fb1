import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  replacePrivateFile,
  writeSecretFile,
} from '../../../../src/cli/connection/private-file.ts';
import { makeFileObjectStore } from '../../../../src/origin/object-store/file-object-store.ts';
import { openStore } from '../../../../src/store/location/open.ts';
import { temporaryFolder } from '../../../support/disk/temporary-folder.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe("under Yarn Plug'n'Play, whose FileHandle can neither sync nor datasync", () => {
  it('data folders, playlist copies and secrets are written', async () => {
    const folder = await temporaryFolder();
    const probe = await open(join(folder, 'probe'), 'w');
    const prototype = Object.getPrototypeOf(probe);
    await probe.close();
    for (const name of ['sync', 'datasync'] as const)
      vi.spyOn(prototype, name).mockRejectedValue(new Error('Method not implemented.'));

    const store = await openStore(join(folder, 'data'));
    await store.close();
    const objects = makeFileObjectStore(join(folder, 'mirror'));
    const { signal } = new AbortController();
    expect(await objects.put('a.json', Buffer.from('{}'), null, signal)).toBe(true);
    await writeSecretFile(join(folder, 'token'), 'mak_secret');
    await replacePrivateFile(join(folder, 'contexts'), '{}');
  });
});
