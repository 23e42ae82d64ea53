import { describe, expect, it } from 'vitest';
import { packedProject } from '../support/programs/packed-project.ts';

/*
 * Packages that speak S3, in a project that has installed them and Stillage from npm, each used as its own documentation shows.
 */
const project = packedProject({
  others: [
    '@aws-sdk/client-s3@3.1169.0',
    '@aws-sdk/s3-request-presigner@3.1163.0',
    'aws4fetch@1.0.20',
    'express@5.3.0',
    'flydrive@2.1.0',
    'minio@8.0.7',
    'multer@2.5.0',
    'multer-s3@3.0.1',
    's3-sync-client@4.3.1',
    'unstorage@1.17.6',
  ],
});

/** Sessions that print `true` if all went as it should, with `stillage` running and a bucket `photos`. */
const sessions: Readonly<Record<string, string>> = {
  'multer-s3': `
    const { S3Client, GetObjectCommand } = await import('@aws-sdk/client-s3');
    const { default: express } = await import('express');
    const { default: multer } = await import('multer');
    const { default: multerS3 } = await import('multer-s3');
    const s3 = new S3Client(stillage.clientConfig);
    const upload = multer({ storage: multerS3({ s3, bucket: 'photos', key: (request, file, done) => done(null, file.originalname) }) });
    const app = express();
    app.post('/upload', upload.single('photo'), (request, response) => response.json({ key: request.file.key }));
    const server = app.listen(0);
    await new Promise((resolve) => server.once('listening', resolve));
    const form = new FormData();
    form.set('photo', new Blob(['bytes']), 'a.jpg');
    const { key } = await (await fetch('http://127.0.0.1:' + server.address().port + '/upload', { method: 'POST', body: form })).json();
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'photos', Key: key }));
    console.log((await Body.transformToString()) === 'bytes');
    server.close();
    server.closeAllConnections();
    s3.destroy();`,
  flydrive: `
    const { Disk } = await import('flydrive');
    const { S3Driver } = await import('flydrive/drivers/s3');
    const disk = new Disk(new S3Driver({ ...stillage.clientConfig, bucket: 'photos', visibility: 'private' }));
    await disk.put('a.txt', 'Hello world');
    const signed = await fetch(await disk.getSignedUrl('a.txt'));
    console.log((await disk.get('a.txt')) === 'Hello world' && (await disk.exists('a.txt')) && (await signed.text()) === 'Hello world');`,
  unstorage: `
    const { createStorage } = await import('unstorage');
    const { default: s3Driver } = await import('unstorage/drivers/s3');
    const storage = createStorage({ driver: s3Driver({ ...stillage.clientConfig, ...stillage.credentials, bucket: 'photos' }) });
    await storage.setItem('foo:bar', 'baz');
    console.log((await storage.getItem('foo:bar')) === 'baz' && (await storage.getKeys()).join() === 'foo:bar');`,
  aws4fetch: `
    const { AwsClient } = await import('aws4fetch');
    const aws = new AwsClient({ ...stillage.credentials, service: 's3', region: stillage.region });
    const url = stillage.endpoint + '/photos/a b';
    const put = await aws.fetch(url, { method: 'PUT', body: 'bytes' });
    console.log(put.ok && (await (await aws.fetch(url)).text()) === 'bytes');`,
  minio: `
    const { Client } = await import('minio');
    const { hostname: endPoint, port } = new URL(stillage.endpoint);
    const { accessKeyId: accessKey, secretAccessKey: secretKey } = stillage.credentials;
    const client = new Client({ endPoint, port: Number(port), useSSL: false, accessKey, secretKey });
    await client.putObject('photos', 'a', 'bytes');
    const { size } = await client.statObject('photos', 'a');
    console.log(size === 5 && (await client.bucketExists('photos')));`,
  's3-sync-client': `
    const { default: module } = await import('s3-sync-client');
    const S3SyncClient = module.S3SyncClient ?? module;
    const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
    const { mkdir, writeFile } = await import('node:fs/promises');
    await mkdir('files/inner', { recursive: true });
    await writeFile('files/inner/a.txt', 'bytes');
    const client = new S3Client(stillage.clientConfig);
    await new S3SyncClient({ client }).sync('files', 's3://photos/backup');
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'photos' }));
    console.log(Contents.map(({ Key }) => Key).join() === 'backup/inner/a.txt');
    client.destroy();`,
};

describe('packages of npm', () => {
  it.each(Object.keys(sessions))('%s runs against startStillage', async (name) => {
    const session = `import { startStillage } from 'stillage';
const stillage = await startStillage({ port: 0, ephemeral: true, buckets: ['photos'] });
${sessions[name]}
await stillage.stop();
`;
    expect(await project.script(`${name}.mjs`, session, { NODE_NO_WARNINGS: '1' })).toBe('true\n');
  });
});
