import { randomBytes } from 'node:crypto';
import { readSigner, signingKeyText } from '../../../domain/statements/signed-note.ts';
import { reserveFile } from '../../connection/private-file.ts';
import * as option from '../../input/option.ts';
import { usage } from '../../input/settings.ts';
import { defineCommand, one } from '../../program/spec.ts';
import { verify } from './verify.ts';

const key = defineCommand({
  summary: 'Make the key that signs statements',
  description: `signage statement key new FILE writes a new signing key to a file that only you can
read, for signage serve --statement-key-file. It never overwrites a file. Keep a copy of it in
another place: no backup has it.`,
  arguments: {
    action: { ...one('new'), choices: ['new'] },
    file: one('the new file'),
  },
  options: {
    name: option.required(
      '--name <name>',
      'who signs: the host of the service, such as ads.example.com',
    ),
  },
  examples: [
    [
      'signage statement key new statement.key --name ads.example.com',
      'a new key for the statements of ads.example.com',
    ],
  ],
  local: true,
  async run(call) {
    const { action, file } = call.args;
    const { name } = call.options;
    if (action !== 'new') throw usage(`Give "new" and a new file, not "${action}".`);
    const text = signingKeyText(name, randomBytes(32));
    if (!readSigner(text)) throw usage('--name must be a name without spaces and without +.');
    await (await reserveFile(file, 'statement key new')).write(text);
    call.note(`The key is in ${file}. Keep a copy in another place: no backup has it.`);
  },
});

export const statement = { key, verify };
