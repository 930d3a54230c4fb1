// The player runs in browsers, where neither Node's modules nor its globals exist.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const entry = `
  export { Player } from '${dist}player/assembly/player.js';
  export { DeviceClient } from '${dist}client/device-client.js';
  export { makeFetchRequester } from '${dist}client/fetch-requester.js';
`;

async function bundlePlayer() {
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : null),
        load: (id) => (id === 'entry' ? entry : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', comments: false });
  return output;
}

describe('The player in a bundle for browsers', () => {
  it('has only modules of the player, the client, the table of operations and the domain', async () => {
    const output = await bundlePlayer();
    const folders = output.flatMap((chunk) =>
      'moduleIds' in chunk ? chunk.moduleIds.map((id) => id.replace(dist, '').split('/')[0]) : [],
    );
    expect([...new Set(folders)].sort()).toEqual(['client', 'domain', 'entry', 'player', 'wire']);
    expect(output.flatMap((chunk) => ('imports' in chunk ? chunk.imports : []))).toEqual([]);
    expect(output).toHaveLength(1);
  });

  it('mentions no global of Node', async () => {
    const [{ code }] = await bundlePlayer();
    expect(code.match(/\b(?:Buffer|process|require|global|setImmediate|node:\w+)\b/g)).toBeNull();
  });
});
