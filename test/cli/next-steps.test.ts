import { describe, expect, it } from 'vitest';
import { startCli } from './run-cli.ts';

describe('a mistake', () => {
  it.each([
    ['token create --name T', 2, '--role must be given (what it may do: viewer, installer,'],
    ['pair --all Lobby', 2, 'Did you mean signage pair --venue Lobby --all?'],
    ['pair --all Lobby/Main', 2, 'Did you mean signage pair --venue Lobby --all?'],
    ['code status 12345', 2, 'such as ABCD 2345; this one has 5 characters.'],
    ['code status ABCD!345', 2, 'such as ABCD 2345; this one has other characters.'],
    ['api GET venues', 3, 'Paths begin with /v1, such as /v1/venues.'],
    ['whoami --context nope', 3, 'signage context list shows all contexts.'],
    ['venue list --tenant nope', 3, 'signage tenant list shows all tenants.'],
    [
      'playlist rollback Lobby/Main 9',
      3,
      'signage playlist history Lobby/Main shows all versions.',
    ],
    ['wait screen Lobby/Main --timeout 0s', 8, 'To pair a TV: signage pair Lobby/Main'],
    ['wait device Lobby/Main --timeout 0s', 8, 'To find out why: signage doctor Lobby/Main'],
  ])('"%s" ends with %i and the next step: %s', async (line, exitCode, text) => {
    const { service, cli } = await startCli();
    const { id: venueId } = await service.venue({ name: 'Lobby' });
    const { id } = await service.screen({ venueId, name: 'Main' });
    const media = { creativeId: crypto.randomUUID(), creativeUrl: 'https://media.example.com/a' };
    const items = [{ ...media, creativeType: 'video', duration: 15 }];
    await service.manage('PUT', `/v1/screens/${id}/playlist`, { items });
    const { code, stdout, stderr } = await cli(line.split(' '));
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toContain(text);
  });
});
