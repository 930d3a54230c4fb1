import type { Operation, RecordKind } from '../../../src/wire/operations/operations.ts';
import { unknownId } from '../../support/service/management.ts';
import type { Fixture, Place } from './fixture.ts';
import { namedInBody, type Target } from './model.ts';

/**
 * A claim and a login request belong to no tenant, a file, a campaign and a statement to no place.
 * Their own tests cover them.
 */
type OwnedKind = Exclude<RecordKind, 'claim' | 'login' | 'media' | 'campaign'>;

const idOf: Record<OwnedKind, (place: Place) => string> = {
  tenant: ({ tenantId }) => tenantId,
  token: ({ tokenId }) => tokenId,
  venue: ({ venueId }) => venueId,
  screen: ({ screenId }) => screenId,
  device: ({ deviceId }) => deviceId,
  webhook: ({ webhookId }) => webhookId,
  ticket: ({ ticketId }) => ticketId,
  pairing_code: ({ code }) => code,
};

function ofRecord(kind: OwnedKind, { inside, outside, foreign }: Fixture): Target[] {
  const known = (kind === 'tenant' ? [inside, foreign] : [inside, outside, foreign]).map(
    (place) => ({
      ...{ name: place.name, place, id: idOf[kind](place) },
    }),
  );
  const other = kind === 'device' ? inside.screenId : inside.deviceId;
  return [
    ...known,
    { name: 'unknown', id: kind === 'pairing_code' ? 'ZZZZZZZZ' : unknownId },
    { name: 'of another kind', id: other },
    { name: 'no id', id: 'no-such-thing' },
  ];
}

function ofDevice({ inside, outside, foreign, dead }: Fixture): Target[] {
  return [
    { name: 'the screen inside', place: inside, id: inside.screenId },
    { name: 'the screen inside, in capitals', place: inside, id: inside.screenId.toUpperCase() },
    { name: 'the device inside', place: inside, id: inside.deviceId },
    { name: 'the screen outside', place: outside, id: outside.screenId },
    { name: 'the screen of another tenant', place: foreign, id: foreign.screenId },
    ...Object.entries(dead).map(([why, { screenId }]) => ({
      name: `the screen of a TV whose key was ${why}`,
      id: screenId,
    })),
    { name: 'the venue', id: inside.venueId },
    { name: 'unknown', id: unknownId },
    { name: 'no id', id: 'no-such-thing' },
  ];
}

/** Returns all targets of an operation. `members` are those of a valid body. */
export function targetsOf(
  operation: Operation,
  members: readonly string[],
  fixtureRows: Fixture,
): Target[] {
  const { inside, outside, foreign } = fixtureRows;
  if (operation.access === 'device') return ofDevice(fixtureRows);
  if (/^\/v1\/(media\/:id|campaigns\/:name|statements)|^\/statement-keys/.test(operation.path))
    return [];
  const { record } = operation;
  if (record && record in idOf) return ofRecord(record as OwnedKind, fixtureRows);
  const everywhere: Target[] = [inside, outside, foreign].map((place) => ({
    name: place.name,
    place,
    id: '',
  }));
  if (members.some((member) => namedInBody[member]))
    return [...everywhere, { name: 'unknown', id: '' }];
  return everywhere.slice(0, 1);
}
