import { describe, expect, it } from 'vitest';
import { onDemandUrl } from '../../../src/origin/on-demand/url.ts';
import { screenRow } from '../../support/service/playlist-rows.ts';

const screen = screenRow({ name: 'Café & Bar #1?' });

describe('the URL of an on-demand source', () => {
  it('contains the encoded ids and name of the screen', () => {
    const { origin, pathOf } = onDemandUrl(
      'https://ads.example:8443/p/{screenId}/{tenantId}.json?venue={venueId}&name={screenName}&a=b',
    );
    expect(origin).toBe('https://ads.example:8443');
    expect(pathOf(screen)).toBe(
      `/p/${screen.id}/${screen.tenantId}.json?venue=${screen.venueId}&name=Caf%C3%A9%20%26%20Bar%20%231%3F&a=b`,
    );
  });

  it('may have no placeholders', () => {
    expect(onDemandUrl('http://10.0.0.1/all').pathOf(screen)).toBe('/all');
  });

  it.each([
    ['no URL', 'ads.example/{screenId}'],
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme with a host', 'ftp://ads.example/{screenId}'],
    ['an unknown placeholder', 'https://ads.example/{screen}'],
    ['a placeholder that every object has', 'https://ads.example/{constructor}'],
    ['an empty placeholder', 'https://ads.example/{}'],
    ['a single brace', 'https://ads.example/{screenId'],
    ['a placeholder as the host', 'https://{tenantId}/x'],
    ['a placeholder in the host', 'https://{tenantId}.ads.example/x'],
    ['a placeholder in the port', 'https://ads.example:{screenId}/'],
    ['a name in the path, where ".." would lead elsewhere', 'https://ads.example/{screenName}'],
    ['a user name', 'https://tom@ads.example/'],
    ['a password', 'https://:secretword@ads.example/'],
    ['a placeholder in the password', 'https://a:{screenId}@ads.example/'],
    ['a fragment', 'https://ads.example/#{screenId}'],
  ])('must not have %s', (_, template) => {
    let message = '';
    try {
      onDemandUrl(template);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_option' });
      message = (error as Error).message;
    }
    expect(message).toMatch(/^The on-demand URL /);
    expect(message).not.toContain('secretword');
  });
});
