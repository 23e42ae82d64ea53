import { describe, expect, it } from 'vitest';
import { readCloudSettings } from '../../../../functions/cloud/settings.ts';

const environment = {
  STILLAGE_TABLE: 'table',
  STILLAGE_BLOB_BUCKET: 'blobs',
  STILLAGE_SECRET: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Secret-abc',
  STILLAGE_EDGE_SECRET: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:EdgeSecret-abc',
  STILLAGE_REGION: 'eu-1',
  STILLAGE_DOMAIN: 'S3.Example.com',
  STILLAGE_WEBSITE_DOMAIN: 'Website.Example.com',
  STILLAGE_XML_NAMESPACE: 'http://example.com/doc/',
  STILLAGE_ALL_USERS_GROUP_URI: 'http://example.com/AllUsers',
};

describe('the settings of a process in the cloud', () => {
  it('come from its environment', () => {
    expect(readCloudSettings(environment)).toEqual({
      table: 'table',
      blobBucket: 'blobs',
      secret: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Secret-abc',
      edgeSecret: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:EdgeSecret-abc',
      region: 'eu-1',
      domain: 's3.example.com',
      websiteDomain: 'website.example.com',
      xmlNamespace: 'http://example.com/doc/',
      allUsersGroupUri: 'http://example.com/AllUsers',
      limits: {},
      tableTimeout: undefined,
      publicUrl: undefined,
      strictRegion: false,
      signatureV2: true,
      customerKeys: true,
      auditDays: 0,
      auditStrict: false,
      uploadMemory: 2 ** 30,
      logsEveryRequest: false,
      regions: undefined,
      consoleOrigins: new Set(),
    });
    const { limits } = readCloudSettings({ ...environment, STILLAGE_LIMITS: '{"bucketBytes":1000}' });
    expect(limits).toEqual({ bucketBytes: 1000 });
    expect(readCloudSettings({ ...environment, STILLAGE_TABLE_TIMEOUT: '5000' }).tableTimeout).toBe(5000);
    const others = {
      ...{ STILLAGE_PUBLIC_URL: 'https://links.example.com', STILLAGE_STRICT_REGION: 'true' },
      STILLAGE_CUSTOMER_KEYS: 'false',
      ...{ STILLAGE_UPLOAD_MEMORY: '1000', STILLAGE_REQUEST_LOG: 'all' },
      ...{ STILLAGE_SIGNATURE_V2: 'false', STILLAGE_REGIONS: 'eu,mars-north-1' },
      STILLAGE_CONSOLE_ORIGINS: 'https://console.example.com,http://localhost:5173',
    };
    expect(readCloudSettings({ ...environment, ...others })).toMatchObject({
      ...{
        publicUrl: 'https://links.example.com',
        strictRegion: true,
        signatureV2: false,
        customerKeys: false,
        uploadMemory: 1000,
        logsEveryRequest: true,
      },
      regions: ['eu', 'mars-north-1'],
      consoleOrigins: new Set(['https://console.example.com', 'http://localhost:5173']),
    });
  });

  it.each(Object.keys(environment))('need %s', (name) => {
    expect(() => readCloudSettings({ ...environment, [name]: undefined })).toThrow(`${name} is missing`);
    expect(() => readCloudSettings({ ...environment, [name]: '' })).toThrow(`${name} is missing`);
  });
});
