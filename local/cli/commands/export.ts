import type { Command } from 'commander';
import { option } from '../../../shared/command-line/option.ts';
import { bucketName } from '../../../shared/command-line/option-values.ts';
import { s3Address } from '../../../shared/command-line/s3-address.ts';
import { exportData } from '../../server/moving/export-data.ts';
import type { Named } from '../command.ts';
import { moveCommand } from '../moving.ts';
import * as operand from '../operands.ts';

/** Returns `stillage export`. */
export function commandLine(named: Named): Command {
  return moveCommand({
    ...named,
    other: [
      '<destination>',
      's3://bucket?endpoint=https://s3.example.com&region=us-east-1; without a bucket: all of this service',
      s3Address,
    ],
    options: [
      option('--project <project>', 'only buckets of this project, if all are copied', operand.project[2]),
      option('--bucket <name>', 'name of the bucket here, if it is another', bucketName),
    ],
    examples: [
      "export 's3://photos?endpoint=https://minio.example.com'",
      "export 's3://?endpoint=https://rgw.example.com' --project shop@acme --rate 50MiB --json",
    ],
    move: exportData,
    notKept: 'times and version ids, which no S3 takes from others',
  });
}
