const storageBytes = 2 ** 30;

/**
 * Returns the autorun.brs of a BrightSign player, which opens the web player on the whole screen,
 * keeps its storage on the SD card, and opens it again after a failure.
 */
export function autorunScript(playerUrl: string): string {
  // A URL has no quotation marks: its parser encodes them.
  const lines = [
    "' Opens the web player of signage. Written by: signage player package brightsign",
    'Sub Main()',
    `  address = "${new URL(playerUrl).href}"`,
    '  port = CreateObject("roMessagePort")',
    '  mode = CreateObject("roVideoMode")',
    '  screen = CreateObject("roRectangle", 0, 0, mode.GetResX(), mode.GetResY())',
    '  CreateDirectory("SD:/signage-player")',
    '  config = {',
    '    url: address,',
    '    port: port,',
    '    javascript_enabled: true,',
    '    mouse_enabled: false,',
    '    storage_path: "SD:/signage-player",',
    `    storage_quota: ${storageBytes}`,
    '  }',
    '  page = CreateObject("roHtmlWidget", screen, config)',
    '  page.Show()',
    '  while true',
    '    message = wait(0, port)',
    '    if type(message) = "roHtmlWidgetEvent" then',
    '      data = message.GetData()',
    '      if type(data) = "roAssociativeArray" and type(data.reason) = "roString" then',
    '        if data.reason = "load-error" then',
    '          sleep(10000)',
    '          page.SetUrl(address)',
    '        end if',
    '      end if',
    '    end if',
    '  end while',
    'End Sub',
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}
