import type { Page } from 'playwright-core';

/**
 * Returns the colour of a pixel of the page, such as `255,0,0`. The browser decodes the screenshot.
 */
export async function colourAt(page: Page, at: { x: number; y: number }): Promise<string> {
  const pixel = await page.screenshot({ clip: { ...at, width: 1, height: 1 } });
  return page.evaluate(`(async () => {
    const image = new Image();
    const loaded = new Promise((resolve) => image.addEventListener('load', resolve));
    image.src = 'data:image/png;base64,${pixel.toString('base64')}';
    await loaded;
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.drawImage(image, 0, 0);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)].join();
  })()`);
}
