import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../src/domain/error.ts';
import { readS3Location } from '../../../src/origin/object-store/s3-location.ts';

describe('the URL of a bucket', () => {
  it.each([
    ['s3://bucket', 'https://bucket.s3.us-east-1.amazonaws.com/', '', 'us-east-1'],
    [
      's3://bucket/a/b/?region=eu-central-1',
      'https://bucket.s3.eu-central-1.amazonaws.com/',
      'a/b/',
      'eu-central-1',
    ],
    ['s3://my.bucket/a', 'https://s3.us-east-1.amazonaws.com/my.bucket/', 'a/', 'us-east-1'],
    ['s3://bucket/a?endpoint=http://minio:9000', 'http://minio:9000/bucket/', 'a/', 'us-east-1'],
    [
      's3://bucket?endpoint=https://id.r2.cloudflarestorage.com/&region=auto',
      'https://id.r2.cloudflarestorage.com/bucket/',
      '',
      'auto',
    ],
    [
      's3://bucket?endpoint=https://host/storage/v1/s3',
      'https://host/storage/v1/s3/bucket/',
      '',
      'us-east-1',
    ],
    [
      's3://bucket?endpoint=https://host:8443&addressing=virtual-host',
      'https://bucket.host:8443/',
      '',
      'us-east-1',
    ],
    ['s3://bucket?addressing=path', 'https://s3.us-east-1.amazonaws.com/bucket/', '', 'us-east-1'],
  ])('%s is at %s', (url, bucketUrl, prefix, region) => {
    expect(readS3Location(url, undefined)).toEqual({
      bucketUrl,
      prefix,
      region,
      name: `${bucketUrl}${prefix.slice(0, -1)}`,
    });
  });

  it('uses the region of the environment if the URL names none', () => {
    expect(readS3Location('s3://bucket', 'eu-west-3').region).toBe('eu-west-3');
    expect(readS3Location('s3://bucket?region=eu-west-1', 'eu-west-3').region).toBe('eu-west-1');
  });

  it.each([
    ['credentials', 's3://AKIA:secretInTheUrl@bucket/prefix'],
    ['credentials in the endpoint', 's3://bucket?endpoint=https://AKIA:secretInTheUrl@host'],
    ['an unknown parameter', 's3://bucket?secretInTheUrl=x'],
    ['no bucket', 's3:///secretInTheUrl'],
    ['an invalid bucket', 's3://Bucket_secretInTheUrl/'],
    ['a prefix that needs encoding', 's3://bucket/secretInTheUrl%20x'],
    ['a prefix with an empty segment', 's3://bucket/secretInTheUrl//x'],
    ['an invalid endpoint URL', 's3://bucket?endpoint=secretInTheUrl'],
    ['an endpoint of another scheme', 's3://bucket?endpoint=file:///secretInTheUrl'],
    ['an endpoint with a query', 's3://bucket?endpoint=https://host/%3FsecretInTheUrl'],
    ['an invalid region', 's3://bucket?region=secretInTheUrl'],
    ['unknown addressing', 's3://bucket?addressing=secretInTheUrl'],
    ['a fragment', 's3://bucket#secretInTheUrl'],
  ])('is rejected with %s, without repeating it', (_, url) => {
    const refused = () => readS3Location(url, undefined);
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    try {
      refused();
    } catch (error) {
      expect(hasCode(error, 'invalid_option') && error.message).not.toContain('secretInTheUrl');
    }
  });
});
