import { expect, it } from 'vitest';
import { junitXml } from '../../../src/cli/output/junit.ts';

it('escapes what XML and terminals would interpret', () => {
  const failure = 'seen: <b title="x">&amp;</b>\u001b[2J\u0000';
  expect(junitXml([{ group: 'tv', name: 'a', failure }])).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="signage" tests="1" failures="1" skipped="0">
  <testcase classname="tv" name="a"><failure message="seen: &lt;b title=&quot;x&quot;&gt;&amp;amp;&lt;/b&gt;\\u001b[2J\\u0000"/></testcase>
</testsuite>
`,
  );
});
