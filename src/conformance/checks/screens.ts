import { type Answer, at, said, saidAll, taken, textAt } from '../answer.ts';
import { about, type Check, profile } from '../check.ts';
import { unknownId } from '../content.ts';
import type { Fixture } from '../fixture.ts';
import { schemaViolations } from '../schema-violations.ts';

function madeScreen(stage: Fixture): Promise<{ name: string; answer: Answer }> {
  return stage.once('made screen', async () => {
    const name = `Screen ${stage.next()}`;
    return {
      name,
      answer: await stage.manage('POST', '/v1/screens', {
        venueId: await stage.venue(),
        name,
        labels: { floor: '2' },
      }),
    };
  });
}

/** Screens (docs/protocol.md §5.3). */
export const screenChecks: readonly Check[] = about(
  { id: 'screen', subject: 'POST /v1/screens', section: '5.3' },
  [
    profile('201', '201 with its Location', '201, its Location', async (stage) => {
      const { answer } = await madeScreen(stage);
      const isPlace = (answer.headers.location ?? '').endsWith(
        `/v1/screens/${textAt(answer.json, 'id')}`,
      );
      return `${said(answer)}, ${isPlace ? 'its Location' : 'another Location'}`;
    }),
    profile(
      'members',
      'id, tenantId, venueId, name, labels, state, deviceId, provisioningCode and times',
      'all of them, each of its type',
      async (stage) =>
        schemaViolations((await madeScreen(stage)).answer.json, {
          ...{
            id: 'uuid',
            tenantId: 'uuid',
            venueId: 'uuid',
            name: 'text',
            labels: 'object',
            state: 'text',
          },
          ...{
            deviceId: 'uuid?',
            provisioningCode: 'object?',
            createdAt: 'time',
            updatedAt: 'time',
          },
        }),
    ),
    profile('404', '404 for an unknown venue', '404 venue_not_found', async (stage) =>
      said(await stage.manage('POST', '/v1/screens', { venueId: unknownId, name: 'x' })),
    ),
    profile(
      '409',
      '409 for a name that is taken in the venue, with the id that has it',
      '409 name_taken, its id',
      async (stage) => {
        const { name, answer } = await madeScreen(stage);
        return taken(
          await stage.manage('POST', '/v1/screens', { venueId: await stage.venue(), name }),
          at(answer.json, 'id'),
        );
      },
    ),
    profile('name', 'the same name is free in another venue', '201', async (stage) =>
      said(
        await stage.manage('POST', '/v1/screens', {
          venueId: await stage.newVenue(),
          name: (await madeScreen(stage)).name,
        }),
      ),
    ),
    profile(
      'code',
      'it shows where its newest code stands, never the code',
      'pending, no code',
      async (stage) => {
        const { code, screenId } = await stage.code();
        const answer = await stage.manage('GET', `/v1/screens/${screenId}`);
        return `${at(answer.json, 'provisioningCode.status')}, ${answer.text.includes(code) ? 'the code' : 'no code'}`;
      },
    ),
    profile('venue', 'its venue never changes', '400', async (stage) =>
      String(
        (
          await stage.manage('PATCH', `/v1/screens/${await stage.screen()}`, {
            venueId: await stage.newVenue(),
          })
        ).status,
      ),
    ),
    profile(
      'delete.409',
      'DELETE is 409 for a screen that is active',
      '409 screen_active',
      async (stage) =>
        said(await stage.manage('DELETE', `/v1/screens/${(await stage.newTv()).screenId}`)),
    ),
    profile(
      'delete.force',
      'with force=true it is 204, and the screen is gone',
      '204, 404 screen_not_found',
      async (stage) => {
        const path = `/v1/screens/${(await stage.newTv()).screenId}`;
        return saidAll([
          await stage.manage('DELETE', `${path}?force=true`),
          await stage.manage('GET', path),
        ]);
      },
    ),
    profile(
      'delete.code',
      'the codes of a screen that was deleted are cancelled',
      '410 pairing_code_cancelled',
      async (stage) => {
        const { code, screenId } = await stage.code();
        await stage.made('DELETE', `/v1/screens/${screenId}`);
        return said(await stage.register(code));
      },
    ),
  ],
);
