import { describe, expect, it } from 'vitest';
import { startCli } from './run-cli.ts';

/** Starts a service with one screen that has a label, in a venue that has another. */
async function withLabels() {
  const { service, cli } = await startCli();
  const { id: venueId } = await service.venue({ name: 'Lobby', labels: { city: 'Accra' } });
  await service.screen({ venueId, name: 'Main', labels: { floor: '1' } });
  return cli;
}

describe('a list that finds nothing', () => {
  it.each([
    ['event list --type impresion', 'is not a well-known type. Did you mean "impression"?'],
    ['event list --type coffee', 'is not a well-known type. Known are impression, play,'],
    ['audit list --action venue.creat', 'There is no action "venue.creat". Did you mean'],
    ['audit list --action nope', 'Known are tenant.create, tenant.update,'],
    ['screen list --label flor=1', 'No screen has the label "flor". Did you mean "floor"?'],
    ['screen list --selector flor=1,floor', 'No screen has the label "flor". Did you mean'],
    ['screen list --selector venue:town=Accra', 'No venue has the label "town". Known are city.'],
  ])('0 for %s, with the words that are known', async (line, note) => {
    const cli = await withLabels();
    const { code, stdout, stderr } = await cli(line.split(' '));
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^Nothing found\.\n/);
    expect(stderr).toContain(note);
    const inJson = await cli([...line.split(' '), '-o', 'json', '--quiet']);
    expect(inJson).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
  });

  it.each([
    'event list --type heartbeat',
    'audit list --action backup.create',
    'audit list --action token.activate',
    'screen list --selector floor=2',
    'screen list --selector !flor,floor=2',
    'screen list --search x',
  ])('has no note for %s, whose words are known', async (line) => {
    const cli = await withLabels();
    expect((await cli(line.split(' '))).stderr).toBe('Nothing found.\n');
  });
});

describe('a name of another kind', () => {
  it.each([
    ['config set Lobby volume=1', '"Lobby" is a venue. Give --level venue.'],
    ['config get Lobby', '"Lobby" is a venue. Give --level venue.'],
    ['config unset Lobby/Main --level venue', '"Lobby/Main" is a screen. Give --level screen.'],
    ['config get Loby', 'signage screen list shows all screens.'],
    ['pair Lobby', 'Name the screen, too: signage pair'],
    ['pair Lobby/Nope', 'signage screen list --venue Lobby shows its screens. To create it:'],
    ['pair Nope/Main', 'signage venue list shows all venues. To create it: --create'],
  ])('3 for %s, with a hint: %s', async (line, hint) => {
    const cli = await withLabels();
    const { code, stdout, stderr } = await cli(line.split(' '));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`\n  ${hint}`);
  });
});

describe('a row of signage conformance that does not exist', () => {
  it.each([
    ['evnts', 'Did you mean "events"?'],
    ['nonsense', 'Ids begin with '],
  ])('2 for --row %s, with the ids that are near', async (row, hint) => {
    const { cli } = await startCli();
    const { code, stderr } = await cli(['conformance', '--row', row]);
    expect(code).toBe(2);
    expect(stderr).toContain(`No check has an id that begins with ${row}.\n  ${hint}`);
  });
});
