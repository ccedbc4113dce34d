// The client in Swift as a phone for the terminal: what `launchway device` does with the client in Rust.
import Foundation

@testable import LaunchwayCore

/// Opens the phone in a directory, performs the command, and returns what the phone is like afterwards.
func view(_ arguments: PhoneArguments) throws -> PhoneView {
    let directory = arguments["--dir"] ?? "phone"
    let clock = SystemClock()
    if arguments.command == "init" {
        try StoreApp(arguments, now: clock.now).save(in: directory)
    }
    let app = try StoreApp(in: directory)
    let network = HttpNetwork(silenceTimeout: try arguments.timeout()) { true }
    let random = { (count: Int) in (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
    let client = directory + "/client"
    let ports = Ports(storage: try Folder(client), network: network, clock: clock, random: random)
    let device = try Device(ports, app.settings, trust: app.trust(ports))
    if !device.isMain {
        throw PhoneFailure.failed("another command is using this phone", hint: "wait until it ends")
    }
    var view = try perform(arguments, device, app)
    if let status = try device.status() {
        view.add(status, client: client)
    }
    return view
}

func perform(_ arguments: PhoneArguments, _ device: Device, _ app: StoreApp) throws -> PhoneView {
    var view = PhoneView()
    switch arguments.command {
    case "check":
        view.add(try device.check())
    case "install":
        let outcome = try device.sync()
        view.add(device.start(app.launch(.explained)))
        view.add(outcome)
    case "confirm":
        view.add(confirmed: try device.confirm())
    case "crash":
        try device.markCrash(stack: arguments["--stack"])
        view.add(device.start(app.launch(.crash)))
    case "report":
        view.add(reported: try device.sendReports())
    case "status":
        break
    default:
        view.add(device.start(app.launch(.explained)))
    }
    return view
}

do {
    let arguments = try PhoneArguments(Array(CommandLine.arguments.dropFirst()))
    let shown = try view(arguments)
    FileHandle.standardOutput.write(Data((arguments.isJson ? shown.json : shown.prose).utf8))
} catch {
    let failure = PhoneFailure.of(error)
    let hint = failure.hint.map { "hint: \($0)\n" } ?? ""
    FileHandle.standardError.write(Data("error: \(failure.message)\n\(hint)".utf8))
    exit(failure.exit)
}
