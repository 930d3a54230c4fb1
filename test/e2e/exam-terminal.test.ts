// The questions of `signage conformance --tv`, as built, in a real terminal.
import { describe, expect, it } from 'vitest';
import { ExaminedTv } from '../exam/examined-tv.ts';
import { freePort } from '../support/free-port.ts';
import { openTerminal } from '../support/signage-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const speed = 30;

/** Starts the part `power` of the exam, and enters the code of the terminal at the TV. */
async function startExam(tv: ExaminedTv) {
  const listen = `127.0.0.1:${await freePort()}`;
  const common = ['conformance', '--tv', '--quick', '--speed', String(speed)];
  const env = { XDG_CONFIG_HOME: await temporaryFolder() };
  const terminal = openTerminal([...common, '--part', 'power', '--listen', listen], env);
  const [, one, other, url] = await terminal.until(
    /code ([A-Z2-9]{4})-([A-Z2-9]{4}) on the TV\.\nService address for the TV: (\S+)/,
  );
  tv.onCode(`${one}${other}`, `${url}`);
  return terminal;
}

// `script` of other systems is another program: there these tests cannot run.
describe.skipIf(process.platform !== 'linux')(
  'signage conformance --tv in a real terminal (Linux only: script of util-linux)',
  { timeout: 60_000 },
  () => {
    it('asks for the plug, and judges the TV after the power is back', async () => {
      const tv = new ExaminedTv(speed);
      const terminal = await startExam(tv);
      await terminal.until(/Pull the plug of the TV now\. Is it off\?/);
      await tv.off();
      terminal.type('y\r');
      // "No" asks again.
      await terminal.until(/Plug the TV in again\. Is it on\? \(Y\/n\)/);
      terminal.type('n\r');
      await terminal.until(/Is it on\? No\n.*Is it on\? \(Y\/n\)/);
      await tv.on();
      terminal.type('\r');
      const code = await terminal.ended;
      expect(terminal.written()).toMatch(/✓.* tv\.power\.\S+/);
      expect(terminal.written()).not.toContain('✗');
      expect(code).toBe(0);
      await tv.off();
    });

    it('ends at Ctrl-C in a question with 130 and the rows so far', async () => {
      const tv = new ExaminedTv(speed);
      const terminal = await startExam(tv);
      await terminal.until(/Is it off\?/);
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.written()).toMatch(/✓ +tv\.register\.uses-key/);
      await tv.off();
    });
  },
);
