// Examples from the Amazon S3 API Reference, "Signature Calculations for the Authorization Header:
// Transferring Payload in a Single Chunk (AWS Signature Version 4)", with the credentials, date and
// signatures printed there.
import { describe, expect, it } from 'vitest';
import { signRequest } from '../../../src/origin/object-store/s3-client.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const at = { region: 'us-east-1', nowMs: Date.UTC(2013, 4, 24), credentials };
const bucket = 'https://examplebucket.s3.amazonaws.com';

const examples = [
  {
    name: 'GET Object',
    call: { method: 'GET', headers: { range: 'bytes=0-9' } },
    path: '/test.txt',
    signedHeaders: 'host;range;x-amz-content-sha256;x-amz-date',
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'PUT Object',
    call: {
      method: 'PUT',
      headers: {
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
    path: '/test$file.text',
    signedHeaders: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    name: 'GET Bucket Lifecycle',
    call: { method: 'GET' },
    path: '/?lifecycle',
    signedHeaders: 'host;x-amz-content-sha256;x-amz-date',
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'Get Bucket (List Objects)',
    call: { method: 'GET' },
    path: '/?max-keys=2&prefix=J',
    signedHeaders: 'host;x-amz-content-sha256;x-amz-date',
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
] as const;

describe('a request to S3', () => {
  it.each(examples)(
    'has the signature of the AWS example: $name',
    async ({ call, path, signedHeaders, signature }) => {
      const { headers } = await signRequest(call, bucket + path, at);
      const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
      expect(headers.authorization).toBe(
        `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
      );
    },
  );

  it('contains and signs the session token of temporary credentials', async () => {
    const { headers } = await signRequest({ method: 'GET' }, `${bucket}/test.txt`, {
      ...at,
      credentials: { ...credentials, sessionToken: 'temporary' },
    });
    expect(headers['x-amz-security-token']).toBe('temporary');
    expect(headers.authorization).toContain(
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
    );
  });
});
