import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { auditActions } from '../../../src/domain/records/audit.ts';

const page = new URL('../../../docs/protocol.md', import.meta.url);

it('the actions in the trail are those of docs/protocol.md §5.7', async () => {
  const [, section = ''] = (await readFile(page, 'utf8')).split('### 5.7 The audit trail\n');
  const [, table = ''] = section.split('| Subject | Actions |\n');
  const [rows = ''] = table.split('\n\n');
  const documented = [...rows.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, action]) => action);
  expect(documented.toSorted()).toEqual(auditActions.toSorted());
});
