// The built service as it runs in production, its log off; `unsynced` makes of every fdatasync a
// call that does nothing.
import { open } from 'node:fs/promises';
import { serve } from '../../../dist/index.js';
import { beServed } from './peer.js';

const [folder, adminToken, synced] = process.argv.slice(2);
if (synced === 'unsynced') {
  const file = await open(new URL(import.meta.url), 'r');
  Object.getPrototypeOf(file).datasync = async () => {};
  await file.close();
}
const service = await serve({ port: 0, store: `${folder}/data`, adminToken });
beServed(Number(new URL(service.url).port), () => service.close());
