// The player runs in browsers, where neither Node's modules nor its globals exist.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const entry = `
  export { Player } from '${src}player/player.ts';
  export { DeviceClient } from '${src}client/device-client.ts';
  export { makeFetchRequester } from '${src}client/fetch-requester.ts';
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
      'moduleIds' in chunk ? chunk.moduleIds.map((id) => id.replace(src, '').split('/')[0]) : [],
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
