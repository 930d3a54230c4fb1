import type { DeviceChanges } from '../../domain/records/device-changes.ts';
import type { HoldListener } from '../../service/playlists/hold-table.ts';
import type { AnswerReceiver } from '../request/answer.ts';

/** Converts the end of a hold to an answer. */
export class ChangesListener implements HoldListener {
  readonly #receiver: AnswerReceiver;

  constructor(receiver: AnswerReceiver) {
    this.#receiver = receiver;
  }

  answer(changes: DeviceChanges): void {
    this.#receiver.send({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      type: 'application/json',
      body: JSON.stringify(changes),
    });
  }

  fail(error: unknown): void {
    this.#receiver.fail(error);
  }
}
