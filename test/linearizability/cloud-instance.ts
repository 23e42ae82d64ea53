import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '../../functions/operations.ts';
import { startCloudService } from '../../functions/cloud/composition.ts';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import { nodeHttpListener } from '../../shared/node-http/node-http.ts';
import { TrustedProxies } from '../../shared/node-http/connections/trusted-proxies.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import { plantedFaults, type FaultName } from './planted-faults.ts';

/*
 * A child process that serves every operation, composed as the functions and servers of the cloud are. It shares nothing with others but
 * the table and the blobs, and tells its parent the port on which it listens.
 */

const planted = process.env['TEST_PLANTED_FAULT'] as FaultName | undefined;
if (planted !== undefined) plantedFaults[planted](DynamoDbTable.prototype);

const settings = readCloudSettings(process.env);
const { pipeline, log } = await startCloudService(settings, operations, S3BlobStore);
const listener = nodeHttpListener(pipeline, {
  proxies: new TrustedProxies([]),
  limits: { ...defaultLimits, ...settings.limits },
  keepAlive: () => true,
  telemetry: log,
});
const server = createServer(listener);
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
