import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { join } from 'node:path';
import { bundleOperations } from './bundle.ts';
import { Deployment } from './deployment.ts';
import { describeOperations, root } from './operation-descriptions.ts';
import { readSettings } from './settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const settings = readSettings(app.node);
const operations = await bundleOperations(await describeOperations(), join(root, 'dist/functions'));
new Deployment(app, { settings, operations });
app.synth();
