import { conditions } from '../../domain/conditions/condition.ts';
import * as option from '../input/option.ts';
import { selectorOption } from '../input/selector.ts';
import { venueOption } from '../records/select-screens.ts';

/** Options that select screens by what they show. */
export const statusOptions = {
  venue: venueOption('only screens of this venue, by id or name'),
  selector: selectorOption('only screens with these labels'),
  condition: option.choice(conditions, '--condition <condition>', 'only screens in this condition'),
  darkAfter: option.optionalDuration(
    '--dark-after <time>',
    'a screen is dark when its TV has been silent for this time, such as 30m; default: twice the longest interval of the TV, 10 minutes with the default config',
    'm',
  ),
};
