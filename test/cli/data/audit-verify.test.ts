import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { frame } from '../../../src/store/json/log/frame.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { startService } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';

/** Makes a store with the audit entries of three new venues. */
async function filled(store: string, names = ['One', 'Two', 'Three']): Promise<string> {
  const service = await startService({ store });
  for (const name of names) await service.venue({ name });
  await service.close();
  return store;
}

const verify = (argv: string[], env: Record<string, string> = {}) =>
  runCli(['audit', 'verify', ...argv], { env });
const folder = async () => join(await temporaryFolder(), 'data');

describe('signage audit verify', () => {
  it('0 for an unchanged data folder, with the number of entries and the head', async () => {
    const data = await filled(await folder());
    const { code, json, stderr } = await verify(['--data', data, '-o', 'json']);
    expect([code, json]).toEqual([0, []]);
    expect(stderr).toMatch(
      /\d+ entries; the chain runs from entry 1 to \d+ of writer [0-9a-f]{16}, MAC [0-9a-f]{64}\./,
    );
  });

  it('9 for an entry that was changed together with its checksum, naming the entry', async () => {
    const data = await filled(await folder());
    const path = join(data, 'audit', (await readdir(join(data, 'audit')))[0] ?? '');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes('venue.create'));
    const { crc: _crc, ...line } = JSON.parse(lines[at] ?? '');
    lines[at] = frame(
      JSON.stringify({ ...line, entry: { ...line.entry, action: 'venue.delete' } }).slice(1),
    )
      .toString()
      .trimEnd();
    await writeFile(path, `${lines.join('\n')}\n`);
    const expected = {
      level: 'damage',
      writer: line.link.writer,
      sequence: line.link.seq,
      at: expect.stringMatching(/Z$/),
      id: line.entry.id,
    };
    const { code, json } = await verify(['--data', data, '-o', 'json']);
    expect([code, json]).toEqual([
      9,
      [{ ...expected, what: expect.stringContaining('was changed') }],
    ]);
    const table = await verify(['--data', data]);
    expect([table.code, table.stdout]).toEqual([9, expect.stringContaining(line.entry.id)]);
    const checked = await runCli(['data', 'check', data, '-o', 'json']);
    expect(checked.code).toBe(9);
    expect(checked.json).toEqual([
      expect.objectContaining({
        level: 'damage',
        file: expect.stringContaining('audit/'),
        what: expect.stringContaining(line.entry.id),
      }),
    ]);
  });

  it('detects a truncated and re-signed trail by a saved head', async () => {
    const data = await filled(await freshDatabase());
    const place = await temporaryFolder();
    const url = join(place, 'url');
    const head = join(place, 'head.json');
    await writeFile(url, data, { mode: 0o600 });
    const [{ text: sound } = { text: '' }] = await inDatabase(data, (sql) =>
      sql('SELECT row_to_json(c)::text AS text FROM signage.audit_chain c'),
    );
    await filled(data, ['Four', 'Five']);
    expect((await verify(['--store-file', url, '--save-head', head])).code).toBe(0);
    const kept = await readFile(head, 'utf8');
    expect(
      (await verify(['--head', head, '--save-head', head], { SIGNAGE_STORE: data })).code,
    ).toBe(0);
    const { head_link: end } = JSON.parse(String(sound));
    await inDatabase(data, (sql) =>
      sql(`DELETE FROM signage.audit WHERE link > ${end};
        UPDATE signage.audit_chain SET (head_link, head_mac, head_sig) = (SELECT head_link, head_mac, head_sig FROM json_populate_record(NULL::signage.audit_chain, '${sound}'))`),
    );
    expect((await verify(['--store', data])).code).toBe(0);
    const { code, json } = await verify([
      '--store',
      data,
      '--head',
      head,
      '--save-head',
      head,
      '-o',
      'json',
    ]);
    expect([code, json]).toEqual([
      9,
      [
        expect.objectContaining({
          level: 'damage',
          what: expect.stringContaining('ends before the kept head'),
        }),
      ],
    ]);
    expect(JSON.parse(await readFile(head, 'utf8'))).toMatchObject({
      sequence: JSON.parse(kept).sequence,
    });
  });

  it('5 while the folder is in use, 6 for an invalid head file, 2 for a store in memory', async () => {
    const data = await folder();
    const service = await startService({ store: data });
    expect((await verify(['--data', data])).code).toBe(5);
    await service.close();
    const head = join(await temporaryFolder(), 'head.json');
    expect((await verify(['--data', data, '--head', head])).code).toBe(2);
    await writeFile(head, '{"sequence":"all"}');
    expect((await verify(['--data', data, '--head', head])).code).toBe(6);
    for (const argv of [
      ['--store', 'memory'],
      ['--data', join(data, 'nowhere')],
    ])
      expect((await verify(argv)).code).toBe(2);
  });
});
