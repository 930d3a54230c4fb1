import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny';

const configs = {
  avc: { codec: 'avc1.64000c', description: Uint8Array.of(1, 0x64, 0, 0x0c, 0xff, 0xe0, 0) },
  'avc 4:4:4': {
    codec: 'avc1.f4000c',
    description: Uint8Array.of(1, 0xf4, 0, 0x0c, 0xff, 0xe0, 0),
  },
  hevc: { codec: 'hev1.1.6.L93.B0', description: new Uint8Array(23) },
  vp8: { codec: 'vp8', description: undefined },
};

/** Makes a video file of 2.5 seconds. Its frames have no content, so that nothing can decode it. */
export async function makeVideo(
  codec: keyof typeof configs,
  { isFragmented = false }: { isFragmented?: boolean } = {},
): Promise<Uint8Array> {
  const target = new BufferTarget();
  const format =
    codec === 'vp8'
      ? new WebMOutputFormat()
      : new Mp4OutputFormat({ fastStart: isFragmented ? 'fragmented' : false });
  const output = new Output({ format, target });
  const source = new EncodedVideoPacketSource(codec === 'avc 4:4:4' ? 'avc' : codec);
  output.addVideoTrack(source);
  await output.start();
  const { description, ...config } = configs[codec];
  const decoderConfig = {
    ...config,
    ...(description && { description }),
    codedWidth: 320,
    codedHeight: 240,
  };
  for (let at = 0; at < 25; at++)
    await source.add(new EncodedPacket(new Uint8Array(100), 'key', at / 10, 0.1), {
      decoderConfig,
    });
  await output.finalize();
  return new Uint8Array(target.buffer as ArrayBuffer);
}
