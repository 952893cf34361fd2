// The TypeScript SDK of the handshake revisions.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { capabilities, clientInfo, extensions, lookForApps, refusalOf, report, requestInit, study, url } from './journey.mjs';

const client = new Client(clientInfo, { capabilities });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
await client.connect(transport);
if (extensions) report(await lookForApps(client));
const { tools } = await client.listTools();
const seen = {
    server: client.getServerVersion().name,
    protocol: transport.protocolVersion,
    tools: tools.map((tool) => tool.name),
    ping: await client.ping(),
    resources: (await client.listResources()).resources,
    study: await study((name, args) => client.callTool({ name, arguments: args })),
    unknownTool: await refusalOf(() => client.callTool({ name: 'nonsense' })),
    unknownResource: await refusalOf(() => client.readResource({ uri: 'ui://nothing' })),
};
await client.close();
report(seen);
