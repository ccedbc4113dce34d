// An app with the SDK on a phone: its processes, its server, and what it learns.
import Foundation
import XCTest

@testable import LaunchwayCore

final class TestApp: Switcher {
    static let server = #"{"serverUrl":"https://host/api"}"#

    /// What the answers to a call are put in.
    final class Answers {
        var texts: [String] = []
    }

    private(set) var disk = MemoryDisk()
    let server = FakeServer()
    private(set) var threads = ManualThreads()
    private(set) var session = Session.off("not started")
    private(set) var bridge = Bridge(Session.off("not started"))
    /// The settings of the binary.
    var file = TestApp.server
    var trustFile: [UInt8]?
    var reloads = false
    /// What the framework was asked to show.
    private(set) var switches: [String] = []
    /// The events of the present process, shortened.
    private(set) var events: [String] = []

    /// A start with a window in a new process, whose script listens at once.
    @discardableResult
    func launch() throws -> TestApp {
        try launch(window: true, .explained)
        bridge.listen { [unowned self] in self.note($0, $1) }
        threads.settle()
        return self
    }

    /// A start in a new process. Nothing of it has run yet but the decision.
    func launch(window: Bool, _ ending: Ending, failAt: Int? = nil) throws {
        disk = disk.copy()
        disk.callsUntilFailure = failAt
        disk.failsOnce = true
        threads = ManualThreads()
        events = []
        try start(window: window, ending)
    }

    /// A start on the present disk.
    func restart() throws {
        try start(window: true, .explained)
    }

    private func start(window: Bool, _ ending: Ending) throws {
        let random = { (count: Int) in [UInt8](repeating: 0, count: count) }
        let ports = Ports(storage: disk, network: server, clock: TestClock(), random: random)
        let facts = AppFacts(
            binary: Binary(code: "1", name: "1.0.0", installedAt: 1), bundleId: "com.example.app", entryFile: "index.html",
            fingerprint: nil, trustFile: trustFile)
        let options = try Options.read(Utf8.encode(file))
        use(Session.start(facts, options, ports, folder: "/data", threads.ports, window: window, ending: ending))
    }

    /// The next process runs on a copy of this disk.
    func take(_ disk: MemoryDisk) {
        self.disk = disk
    }

    func use(_ session: Session) {
        self.session = session
        session.setSwitcher(self)
        bridge = Bridge(session)
    }

    /// Another process of the same app, while this one has the lock of the disk.
    func anotherProcess() throws -> TestApp {
        let other = TestApp()
        other.disk = disk
        try other.start(window: true, .explained)
        return other
    }

    func listen() {
        bridge.listen { [unowned self] in self.note($0, $1) }
        threads.settleWithoutRounds()
    }

    func forgetEvents() {
        events = []
    }

    /// The values of a payload in the order of their names, an update as its id.
    private func note(_ name: String, _ payload: String) {
        let members = (try? JsonReader.read(Utf8.encode(payload), limit: 1 << 20))?.asObject ?? [:]
        let values = members.ordered.map { member -> String in
            let value = member.value["id"] ?? member.value
            return value.asText ?? JsonWriter.ascii(value)
        }
        events.append(([name] + values).joined(separator: " "))
    }

    /// The first frame is drawn, and everything that follows is done.
    @discardableResult
    func draw() -> TestApp {
        session.onFirstFrame()
        threads.settle()
        return self
    }

    func leave() {
        session.onBackground()
        threads.settle()
    }

    func enter() {
        session.onForeground()
        threads.settle()
    }

    /// Begins a call. The answer is there when it has come.
    func begin(_ method: String, _ arguments: String? = "{}") -> Answers {
        let answers = Answers()
        bridge.call(
            method, arguments, resolve: { answers.texts.append($0) }, reject: { answers.texts.append("\($0): \($1)") })
        return answers
    }

    /// Calls a method and returns its answer.
    func call(_ method: String, _ arguments: String? = "{}") -> String {
        let answers = begin(method, arguments)
        threads.settle()
        XCTAssertEqual(answers.texts.count, 1, method)
        return answers.texts.first ?? ""
    }

    /// The code that a call is rejected with.
    func refusal(_ method: String, _ arguments: String? = "{}") -> String {
        String(call(method, arguments).prefix { $0 != ":" })
    }

    /// Update 1 runs, and is on trial.
    @discardableResult
    func tryUpdate() throws -> TestApp {
        server.offer = Update.number(1)
        try launch().draw()
        _ = call("sync")
        return try launch()
    }

    func boot() throws -> BootState {
        try XCTUnwrap(StateFiles.loadState(disk).content).boot
    }

    func attempt() throws -> Attempt {
        try XCTUnwrap(StateFiles.loadAttempt(disk))
    }

    /// How often the server was asked for an update.
    var checks: Int {
        server.requests.filter { $0.url.contains("/update/check/") }.count
    }

    var folder: String? {
        session.currentFolder?.path
    }

    static func folder(_ update: Int) -> String {
        "/data/slots/\(Update.number(update).sha256)/app"
    }

    func canReload() -> Bool {
        reloads
    }

    func reload(_ folder: URL?) {
        switches.append(folder?.path ?? "embedded")
    }
}
