import { describe, expect, it } from 'vitest';
import { SignageError } from '../../../../src/domain/error.ts';
import { connectTo } from '../../../../src/store/postgres/connection/connect.ts';

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });

describe('an error of the work with a database', () => {
  it.each<[string, Error, code: string, message: string]>([
    [
      'no address of its host accepts connections',
      new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]),
      'store_unreachable',
      'cannot be reached: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432.',
    ],
    [
      'it does not answer a query',
      new Error('Query read timeout'),
      'store_unreachable',
      'cannot be reached: it does not answer.',
    ],
    [
      'the connection is lost during a change',
      new SignageError('unavailable', 'Nothing was changed.', { cause: refused('db:5432') }),
      'store_unreachable',
      'cannot be reached: connect ECONNREFUSED db:5432.',
    ],
    [
      'it cannot be used for another reason',
      new SignageError('unavailable', 'The database is full'),
      'store_unusable',
      'cannot be used: The database is full.',
    ],
    [
      'its data cannot be used',
      new SignageError('restore_unfinished', 'Restore again.'),
      'restore_unfinished',
      'Restore again.',
    ],
  ])('names the database and the reason if %s', async (_, error, code, message) => {
    const work = () => Promise.reject(error);
    await expect(
      connectTo('postgres://me:secret@db/signage?sslmode=disable', work),
    ).rejects.toMatchObject({
      code,
      message: code.startsWith('store')
        ? `The database postgres://me@db/signage ${message}`
        : message,
    });
  });
});
