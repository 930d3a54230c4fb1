import { expect, it } from 'vitest';
import { mayMount } from '../../support/disk/small-disk.ts';
import { runPartUploads } from './part-uploads.ts';

// Only root may mount a disk.
it.skipIf(!mayMount)(
  'four clients upload files in parts while the service is killed and the disk is full',
  async () => {
    const { wrong, missing } = await runPartUploads({ filesEach: 12, abandoned: 0, seed: 1 });
    expect(wrong).toEqual([]);
    expect(missing).toEqual([]);
  },
  120_000,
);
