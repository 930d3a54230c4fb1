import { screen } from '@inquirer/testing/vitest';
import { describe, expect, it } from 'vitest';
import { makePrompter } from '../../../src/cli/terminal/prompter.ts';
import { fakeIo } from '../../support/process/fake-io.ts';

const never = new AbortController().signal;
const prompter = (signal = never) =>
  makePrompter(fakeIo({ isTTY: true }), { noInput: false }, signal);
const flag = '--x';

/** Waits for the prompt, which appears once its module is loaded. */
async function shown(text: string): Promise<void> {
  await expect.poll(() => screen.getScreen()).toContain(text);
}

describe('at a terminal', () => {
  it('asks for a text again until it is valid', async () => {
    const check = (text: string) => (text === 'Lobby' ? undefined : 'must be Lobby');
    const answer = prompter().input({ message: 'Name?', flag, initial: 'Hall', check });
    await shown('Name? (Hall)');
    screen.keypress('enter');
    await shown('must be Lobby');
    screen.type('Lobby');
    screen.keypress('enter');
    expect(await answer).toBe('Lobby');
  });

  it('asks for a secret without showing it', async () => {
    const answer = prompter().password({ message: 'Token?', flag });
    await shown('Token?');
    screen.type('mak_secret');
    await shown('**********');
    screen.keypress('enter');
    expect(await answer).toBe('mak_secret');
    expect(await screen.getFullOutput()).not.toContain('mak_secret');
  });

  it('treats Enter as no', async () => {
    const answer = prompter().confirm({ message: 'Delete?', flag });
    await shown('Delete? (y/N)');
    screen.keypress('enter');
    expect(await answer).toBe(false);
  });

  it('offers choices with escaped names', async () => {
    const choices = [
      { value: 1, name: 'a\u001b[2J\u202e' },
      { value: 2, name: 'b', description: 'c\u0007' },
    ];
    const find = async () => choices;
    const tip = () => 'tip';
    const answer = prompter().search({ message: 'Which of "\u202e"?', flag, find, tip });
    await shown('a\\u001b[2J\\u202e');
    screen.keypress('down');
    await shown('c\\u0007');
    screen.keypress('enter');
    expect(await answer).toBe(2);
    expect(await screen.getFullOutput({ raw: true })).not.toContain('\u202e');
  });

  it('searches while the user types', async () => {
    const find = async (term: string) =>
      ['Lobby', 'Annex']
        .filter((name) => name.toLowerCase().includes(term))
        .map((name) => ({ value: name, name }));
    const answer = prompter().search({ message: 'Venue?', flag, find, tip: () => '2 venues' });
    await shown('Annex');
    expect(screen.getScreen()).toMatch(/2 venues$/);
    screen.type('lob');
    await expect.poll(() => screen.getScreen()).not.toContain('Annex');
    screen.keypress('enter');
    expect(await answer).toBe('Lobby');
  });

  it('says that a list is longer than the screen', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `Wall ${at}`);
    const find = async () => names.map((name) => ({ value: name, name }));
    const answer = prompter().search({ message: 'Screen?', flag, find, tip: () => '40 screens' });
    await shown('40 screens · ↑↓ scrolls');
    expect(screen.getScreen().match(/Wall/g)).toHaveLength(16);
    screen.keypress('enter');
    expect(await answer).toBe('Wall 0');
  });

  it('throws interrupted at a signal', async () => {
    const stop = new AbortController();
    const answer = prompter(stop.signal).confirm({ message: 'Delete?', flag });
    const ended = expect(answer).rejects.toMatchObject({ code: 'interrupted' });
    await shown('Delete?');
    stop.abort();
    await ended;
  });
});

describe('when questions cannot be asked', () => {
  it.each([
    ['without a terminal', fakeIo(), false],
    ['under CI', fakeIo({ isTTY: true, env: { CI: 'true' } }), false],
    ['with --no-input', fakeIo({ isTTY: true }), true],
  ])('%s every question throws usage with the flag', async (_, io, noInput) => {
    const one = makePrompter(io, { noInput }, never);
    expect(one.canAsk).toBe(false);
    const questions = [
      one.input({ message: 'x', flag }),
      one.password({ message: 'x', flag }),
      one.confirm({ message: 'x', flag }),
      one.search({ message: 'x', flag, find: async () => [], tip: () => 'y' }),
    ];
    for (const question of questions)
      await expect(question).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(flag),
      });
    expect(io.err()).toBe('');
  });

  it.each(['', '0', 'false'])('CI=%s does not count as CI', (CI) => {
    expect(
      makePrompter(fakeIo({ isTTY: true, env: { CI } }), { noInput: false }, never).canAsk,
    ).toBe(true);
  });
});
