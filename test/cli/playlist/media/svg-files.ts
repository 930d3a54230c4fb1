const svgNamespace = 'http://www.w3.org/2000/svg';
const svg = `xmlns="${svgNamespace}" width="1" height="1"`;
const subset = `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [
<!-- <!ENTITY c "x"> --><!ENTITY % p "x">
<!ENTITY ns "${svgNamespace}"> <!ENTITY x 'http://ns.example.com'>]>`;

/** SVG files. Chromium shows those without a flaw as an image, and no others. */
export const svgFiles: readonly (readonly [what: string, text: string | Buffer, flaw?: string])[] =
  [
    ['no prolog', `<svg ${svg}/>`],
    [
      'a DOCTYPE with entities',
      `<?xml version="1.0"?>${subset}<svg xmlns="&ns;" xmlns:x="&x;" width="1" height="1"/>`,
    ],
    ['a prefix', `<svg:svg xmlns:svg="${svgNamespace}" width="1" height="1"><svg:g/></svg:svg>`],
    ['a long comment', `<!--${'x'.repeat(3000)}--><svg ${svg}/>`],
    ['a style sheet', `<?xml-stylesheet href="data:text/css,a>b{}"?><svg ${svg}/>`],
    ['a byte order mark', `\ufeff<?xml version="1.0"?><svg ${svg}/>`],
    ['UTF-16, little-endian', Buffer.from(`\ufeff<svg ${svg}/>`, 'utf16le')],
    ['UTF-16, big-endian', Buffer.from(`\ufeff<svg ${svg}/>`, 'utf16le').swap16()],
    ['another encoding declared', `<?xml version="1.0" encoding="utf-16"?><svg ${svg}>é</svg>`],
    ['deep elements', `<svg ${svg}>${'<g>'.repeat(300)}${'</g>'.repeat(300)}</svg>`],
    [
      'no namespace',
      '<svg width="1" height="1"/>',
      `its root element lacks xmlns="${svgNamespace}"`,
    ],
    [
      'another namespace',
      `<svg xmlns="${svgNamespace}/"/>`,
      `its root element lacks xmlns="${svgNamespace}"`,
    ],
    ['an undefined entity', `<svg ${svg}>\n&nbsp;</svg>`, 'line 2: undefined entity'],
    [
      'an entity in a comment',
      `<!DOCTYPE svg [\n<!-- <!ENTITY c "x"> -->\n]><svg ${svg}>&c;</svg>`,
      'line 3: undefined entity',
    ],
    ['an unclosed element', `<svg ${svg}><g></svg>`, 'line 1: unexpected close tag'],
    ['no end', `<svg ${svg}><g>`, 'line 1: unclosed tag: g'],
    ['an attribute without quotes', `<svg ${svg} x=1/>`, 'line 1: unquoted attribute value'],
    [
      'an undefined prefix',
      `<svg ${svg}><a xlink:href="x"/></svg>`,
      'line 1: unbound namespace prefix: "xlink"',
    ],
    ['a second root', `<svg ${svg}/><svg ${svg}/>`, 'line 1: documents may contain only one root'],
    [
      'a space before the declaration',
      ` <?xml version="1.0"?><svg ${svg}/>`,
      'line 1: an XML declaration must be at the start of the document',
    ],
    [
      'Latin-1',
      Buffer.from(`<?xml version="1.0" encoding="iso-8859-1"?><svg ${svg}>\xe9</svg>`, 'latin1'),
      'its encoding is not UTF-8',
    ],
  ];
