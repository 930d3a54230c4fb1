import { addButton, addElement } from '../pairing/add-element.ts';
import type { Codec } from '../panel-report.ts';
import { loadClip } from './clips.ts';
import { fill, texts } from './texts.ts';

/** Plays a clip whose arrow points up, turned to the right, beside a drawing of what to see. */
function showPictures(root: HTMLElement, codec: Codec): void {
  const drawing = addElement(root, 'figure', '');
  addElement(addElement(drawing, 'div', 'picture'), 'span', 'arrow', '→');
  addElement(drawing, 'figcaption', '', texts.drawing);
  const clip = addElement(root, 'figure', '');
  const video = addElement(clip, 'video', 'picture');
  addElement(clip, 'figcaption', '', texts.clip);
  video.loop = true;
  loadClip(video, codec);
  void video.play().catch(() => {});
}

/**
 * Asks whether a video is seen turned. Some TVs show videos in a layer of their own, which ignores
 * the page. No script can see that. Returns a function that selects the other answer.
 */
export function askAboutTurnedClip(
  root: HTMLElement,
  codec: Codec | undefined,
  known: unknown,
  onAnswer: (isTurned: boolean) => void,
): () => void {
  if (codec) showPictures(root, codec);
  addElement(root, 'p', 'ask', codec ? texts.ask : texts.noVideo);
  const nameOf = (isTurned: boolean) => (isTurned ? texts.turned : texts.notTurned);
  const buttons = (codec ? [true, false] : []).map((isTurned) =>
    addButton(root, 'choice', nameOf(isTurned), () => {
      show(isTurned);
      onAnswer(isTurned);
    }),
  );
  const answered = addElement(root, 'p', 'answered');
  const show = (isTurned: boolean) => {
    answered.textContent = fill(texts.answered, { answer: nameOf(isTurned) });
  };
  if (typeof known === 'boolean') show(known);
  const [yes, no] = buttons;
  return () => (document.activeElement === yes ? no : yes)?.focus();
}
