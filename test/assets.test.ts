import { describe, expect, it } from 'vitest';
import { assetNames, readAsset } from '../src/package/assets.ts';

describe('the files of the package', () => {
  it('lists plain files only, sorted', () => {
    expect(assetNames('media')).toEqual([
      'flat-white.svg',
      'jazz-night.svg',
      'menu-board.html',
      'welcome.svg',
    ]);
    expect(assetNames('fixtures')).toEqual(['demo.json']);
    expect(assetNames('schema')).toEqual(['plays.sql', 'schema.sql']);
  });

  it('reads a file as bytes, and Swagger UI from its package until the build copied it', () => {
    expect(JSON.parse(readAsset('package', 'package.json').toString()).name).toBe('signage-kit');
    expect(readAsset('docs', 'index.html').toString()).toContain('<!doctype html>');
    expect(readAsset('docs', 'swagger-ui.css').toString()).toContain('.swagger-ui');
  });

  it('throws the name of a missing file', () => {
    expect(() => readAsset('playlists', 'nothing.json')).toThrow('nothing.json');
  });
});
