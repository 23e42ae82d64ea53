import { AwsClient } from 'aws4fetch';

// A session of aws4fetch with Node's own fetch, which takes an authority only from the environment of its process.
const [url, accessKeyId, secretAccessKey] = process.argv.slice(2) as [string, string, string];
const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region: 'us-east-1' });
const outcomes: Record<string, unknown> = {};

const key = `${url}/dir/${encodeURIComponent('a b+é&.txt')}`;
outcomes['create'] = (await client.fetch(url, { method: 'PUT' })).status;
outcomes['put'] = (await client.fetch(key, { method: 'PUT', body: 'content' })).status;
outcomes['get'] = await (await client.fetch(key)).text();
outcomes['range'] = await (await client.fetch(key, { headers: { range: 'bytes=0-2' } })).text();
const escaped = `${url}/${encodeURIComponent('dir/a b+é&.txt')}`;
outcomes['slash escaped'] = await (await client.fetch(escaped)).text();
const head = await client.fetch(key, { method: 'HEAD' });
outcomes['head'] = [head.status, head.headers.get('content-length'), head.headers.get('etag')];
outcomes['list'] = /<Key>(.*)<\/Key>/.exec(await (await client.fetch(`${url}?list-type=2&prefix=dir/`)).text())?.[1];
const signed = await client.sign(`${key}?X-Amz-Expires=60`, { aws: { signQuery: true } });
outcomes['presigned'] = await (await fetch(signed)).text();
const wrong = new AwsClient({ accessKeyId, secretAccessKey: 'wrong', service: 's3', region: 'us-east-1' });
outcomes['wrong'] = (await wrong.fetch(key)).status;
outcomes['delete'] = (await client.fetch(key, { method: 'DELETE' })).status;
outcomes['gone'] = (await client.fetch(key)).status;

process.stdout.write(JSON.stringify(outcomes));
