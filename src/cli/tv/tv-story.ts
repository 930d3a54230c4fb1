import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
import type { Happening } from './happening.ts';

/** What there is to show of a TV beside what its player is at. */
export interface TvStory {
  service: string;
  deviceInfo: DeviceInfoInput;
  speed: number;
  /** Events since the start. */
  stored: number;
  dropped: number;
  /** What went wrong last, until a call goes well again. */
  trouble: string | undefined;
}

/** Goes on with the story. */
export function note(story: TvStory, happening: Happening): void {
  if (happening.what === 'acknowledged') story.stored += happening.received;
  if (happening.what === 'dropped') story.dropped += happening.events.length;
  if (happening.what === 'failure') story.trouble = happening.message;
  if (happening.what === 'answer' && happening.code === undefined) story.trouble = undefined;
}
