import { CrossStackReferences, ReferenceStrength, type Resource, Stack } from 'aws-cdk-lib';

/**
 * Exports values of a resource that its stack always has, whether or not another stack imports them: then none of these exports is ever
 * removed, which CloudFormation refuses as long as a stack imports it. All other references between stacks are weak (cdk.json), which allows
 * to remove what they refer to, but may mean a replacement of what has them (docs/adr/0081-changes-of-a-deployment.md).
 */
export function exportForGood(resource: Resource, ...values: readonly string[]): void {
  CrossStackReferences.of(resource).produce(ReferenceStrength.STRONG);
  for (const value of values) Stack.of(resource).exportValue(value);
}
